/* The disk that a file is on: writing there, what is free, and what to do where it fails. */
#ifndef HS_CORE_DISK_H
#define HS_CORE_DISK_H

#include "core/status.h"

#include <stdint.h>

/* The name in its directory: "a.h5" of "out/a.h5". Points into `path`. */
const char *hs_file_name(const char *path);

/* The directory of `path`, allocated. */
char *hs_directory_of(const char *path);

/* Bytes that this user may still write beside `path`, or where its directory will be made; -1 if
 * that cannot be told. */
double hs_disk_free(const char *path);

/* Whether this user may write beside `path`, or make its directory. HS_IO where not. */
enum hs_status hs_disk_check(const char *path, struct hs_error *err);

/* Adds what went wrong with `path` (errno value `number`) while `doing` ("write"), with what to do
 * about it: for a full disk the bytes needed and free. Returns HS_IO. */
enum hs_status hs_file_failed(const char *path, const char *doing, int number, int64_t needed,
                              struct hs_error *err);

/* Writes all of it, however many calls that takes, and has the disk begin with it: so it works
 * while the next sweeps run, where Linux by itself begins when a tenth of the memory waits. */
enum hs_status hs_file_put(int file, const char *path, const void *data, int64_t bytes, int64_t at,
                           struct hs_error *err);

#endif
