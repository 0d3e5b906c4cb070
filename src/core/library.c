#include "core/library.h"

#include <dlfcn.h>
#include <string.h>

const char *hs_library_find(void *library, const struct hs_symbol *symbols, size_t count)
{
    for (size_t n = 0; n < count; n++) {
        void *found = dlsym(library, symbols[n].name);
        if (!found)
            return symbols[n].name;
        memcpy(symbols[n].place, &found, sizeof found); /* ISO C has no such cast */
    }
    return NULL;
}
