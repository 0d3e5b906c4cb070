/*
 * Allocation that cannot fail: without memory the program ends with HS_DEVICE and a message. For
 * data that is small beside a field. Fields are allocated with malloc, and the caller reports what
 * they were for.
 */
#ifndef HS_CORE_MEMORY_H
#define HS_CORE_MEMORY_H

#include "core/status.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

void *hs_new(size_t size); /* zeros */
void *hs_grow(void *array, size_t count, size_t size);

/* Makes room for one more element in an array that has grown one by one to `count` elements. */
void *hs_reserve(void *array, size_t count, size_t size);

char *hs_copy(const char *text);
char *hs_format(const char *format, ...) HS_PRINTF(1, 2);

#ifdef __cplusplus
}
#endif

#endif
