/* Reads a function of time from a text file with two columns: t in s and a number. */
#ifndef HS_INPUT_TABLE_FILE_H
#define HS_INPUT_TABLE_FILE_H

#include "core/status.h"
#include "core/wall.h"

/*
 * Columns are separated by blanks, a comma, a semicolon or a tab; numbers are decimal; # starts a
 * comment, and a first line of words, without a number, is a heading. It, or a comment before it
 * that names two columns, may not have the times in another unit than s, nor the numbers in another
 * than `unit` ("": any). Times must increase. The points of *out are allocated. Returns HS_IO if
 * the file cannot be read, HS_BAD_INPUT if it is not such a table, with the reason and the line in
 * `why`.
 */
enum hs_status hs_table_file_read(const char *path, const char *unit, struct hs_time_function *out,
                                  struct hs_error *why);

#endif
