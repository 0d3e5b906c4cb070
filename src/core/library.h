/* Functions of a library that is opened when it is first needed. */
#ifndef HS_CORE_LIBRARY_H
#define HS_CORE_LIBRARY_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hs_symbol {
    const char *name;
    void *place; /* of the pointer to the function */
};

/* Sets the pointers by dlsym. Returns the name of the first function that the library lacks, or
 * NULL. */
const char *hs_library_find(void *library, const struct hs_symbol *symbols, size_t count);

#ifdef __cplusplus
}
#endif

#endif
