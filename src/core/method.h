/*
 * The method contract: how time goes. A method asks the backend for sweeps, never a kernel.
 *
 * A method is one file in src/engine/methods/NAME.c that defines
 *     const struct hs_method hs_method_NAME = { ... };
 * The build finds it by its file name.
 */
#ifndef HS_CORE_METHOD_H
#define HS_CORE_METHOD_H

#include "core/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hs_method {
    const char *name;
    const char *idea;   /* one line */
    const char *origin; /* literature */
    /* From stop to stop: takes the state through all steps of the span, and returns when that is
     * done, so that its time can be measured. */
    enum hs_status (*advance)(const struct hs_backend *backend, struct hs_backend_state *state,
                              const struct hs_span *span, struct hs_error *err);
};

#ifdef __cplusplus
}
#endif

#endif
