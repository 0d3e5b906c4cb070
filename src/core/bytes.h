/* Byte counts as text. */
#ifndef HS_CORE_BYTES_H
#define HS_CORE_BYTES_H

#include <stddef.h>

enum { HS_BYTES_TEXT = 32 };

/* "17 bytes", "3.25 GiB"; up to EiB. */
void hs_bytes_name(double bytes, char *out, size_t size);

#endif
