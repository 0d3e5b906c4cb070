/*
 * Memory that is there: where it is not, the program ends with HS_DEVICE and a message. For what is
 * small beside a field; fields are asked for with malloc, and whoever asks tells what they were
 * for.
 */
#ifndef HS_CORE_MEMORY_H
#define HS_CORE_MEMORY_H

#include "core/status.h"

#include <stddef.h>

void *hs_new(size_t size); /* zeros */
void *hs_grow(void *array, size_t count, size_t size);

/* The array, which has grown by one at a time to `count` elements, with room for one more. */
void *hs_reserve(void *array, size_t count, size_t size);

char *hs_copy(const char *text);
char *hs_format(const char *format, ...) HS_PRINTF(1, 2);

#endif
