/* The whole field on the host in double, whatever the problem's precision. */
#ifndef HS_ENGINE_MULTIGRID_HOST_FIELD_H
#define HS_ENGINE_MULTIGRID_HOST_FIELD_H

#include "core/backend.h"

/* From the backend to T, or from T to the backend, plane by plane. T: [nz][ny][nx]. Errors: the
 * backend's; HS_DEVICE when memory is short. */
enum hs_status hs_host_field_download(const struct hs_problem *problem,
                                      const struct hs_backend *backend,
                                      struct hs_backend_state *state, double *T,
                                      struct hs_error *err);
enum hs_status hs_host_field_upload(const struct hs_problem *problem,
                                    const struct hs_backend *backend,
                                    struct hs_backend_state *state, const double *T,
                                    struct hs_error *err);

#endif
