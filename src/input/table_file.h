/* Reads a function of time from a text file: two columns, t in s and a number. */
#ifndef HS_INPUT_TABLE_FILE_H
#define HS_INPUT_TABLE_FILE_H

#include "core/status.h"

/*
 * Columns are separated by blanks, a comma, a semicolon or a tab; what follows # is a comment, and
 * a first line of words is a heading, with no number in it. Times increase. *time and *number
 * [*points] are allocated. Else HS_IO if it cannot be read, HS_BAD_INPUT if it is not such a table,
 * and the reason, with the line.
 */
enum hs_status hs_table_file_read(const char *path, int *points, double **time, double **number,
                                  struct hs_error *why);

#endif
