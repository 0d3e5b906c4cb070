/* The disk that a file is on: writing, free space, and what to do about failures. */
#ifndef HS_CORE_DISK_H
#define HS_CORE_DISK_H

#include "core/status.h"

#include <stdint.h>

/* The file name without its directory: "a.h5" for "out/a.h5". Points into `path`. */
const char *hs_file_name(const char *path);

/* The directory of `path`, allocated. */
char *hs_directory_of(const char *path);

/* Bytes that this user may still write beside `path`, or where its directory will be created; -1 if
 * unknown. */
double hs_disk_free(const char *path);

/* Whether this user may write in the directory of `path`, or create it; if not, HS_IO. */
enum hs_status hs_disk_check(const char *path, struct hs_error *err);

/* Adds a message that `doing` ("write") failed for `path` with errno `number`, and a remedy; for a
 * full disk also the bytes needed and free. Returns HS_IO. */
enum hs_status hs_file_failed(const char *path, const char *doing, int number, int64_t needed,
                              struct hs_error *err);

/* Writes all bytes, in as many calls as needed, and starts their write-back at once, so that the
 * disk works during the next sweeps. Linux by itself waits until a tenth of the memory is dirty. */
enum hs_status hs_file_put(int file, const char *path, const void *data, int64_t bytes, int64_t at,
                           struct hs_error *err);

#endif
