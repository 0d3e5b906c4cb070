#include "engine/multigrid/host_field.h"

#include <stdlib.h>

/* A plane of floats to or from the doubles at T. */
static enum hs_status move_plane(const struct hs_backend *backend, struct hs_backend_state *state,
                                 const struct hs_box *box, bool up, float *plane, double *T,
                                 struct hs_error *err)
{
    const int64_t nodes = hs_box_count(box);
    for (int64_t n = 0; n < nodes && up; n++)
        plane[n] = (float)T[n];
    const enum hs_status st =
        up ? backend->upload(state, box, plane, err) : backend->download(state, box, plane, err);
    for (int64_t n = 0; n < nodes && !up && !st; n++)
        T[n] = (double)plane[n];
    return st;
}

static enum hs_status move(const struct hs_problem *problem, const struct hs_backend *backend,
                           struct hs_backend_state *state, bool up, double *T, struct hs_error *err)
{
    const struct hs_box all = hs_grid_box(&problem->grid);
    if (problem->precision == HS_DOUBLE)
        return up ? backend->upload(state, &all, T, err) : backend->download(state, &all, T, err);
    const int64_t *n = problem->grid.points, nodes = n[HS_X] * n[HS_Y];
    float *plane = malloc((size_t)nodes * sizeof *plane);
    enum hs_status st = HS_OK;
    if (!plane)
        return hs_error_add(err, HS_DEVICE, "no memory for a plane of the field");
    for (int64_t k = 0; k < n[HS_Z] && !st; k++) {
        const struct hs_box box = {{0, 0, k}, {n[HS_X], n[HS_Y], k + 1}};
        st = move_plane(backend, state, &box, up, plane, T + k * nodes, err);
    }
    free(plane);
    return st;
}

enum hs_status hs_host_field_download(const struct hs_problem *problem,
                                      const struct hs_backend *backend,
                                      struct hs_backend_state *state, double *T,
                                      struct hs_error *err)
{
    return move(problem, backend, state, false, T, err);
}

enum hs_status hs_host_field_upload(const struct hs_problem *problem,
                                    const struct hs_backend *backend,
                                    struct hs_backend_state *state, const double *T,
                                    struct hs_error *err)
{
    return move(problem, backend, state, true, (double *)T, err);
}
