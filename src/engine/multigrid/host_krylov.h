/* The vectors of conjugate gradients on the host, preconditioned by the V-cycle of cycle.h. */
#ifndef HS_ENGINE_MULTIGRID_HOST_KRYLOV_H
#define HS_ENGINE_MULTIGRID_HOST_KRYLOV_H

#include "core/krylov.h"
#include "engine/multigrid/equations.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const struct hs_krylov hs_host_krylov;

/* The equations outlive it. HS_DEVICE when memory is short; destroy *out even then. */
enum hs_status hs_host_krylov_create(const struct hs_equations *equations,
                                     struct hs_krylov_state **out, struct hs_error *err);

/* The vector's memory, [nodes]; valid until the vector changes its number. */
double *hs_host_krylov_vector(struct hs_krylov_state *self, int vector);

#ifdef __cplusplus
}
#endif

#endif
