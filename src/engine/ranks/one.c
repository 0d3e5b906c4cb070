/* The program for one rank. */
#include "engine/ranks/ranks.h"

#include "core/memory.h"
#include "engine/ranks/launcher.h"

#include <string.h>

enum hs_status hs_ranks_begin(int *argc, char ***argv, struct hs_error *err)
{
    (void)argc, (void)argv;
    return hs_launcher_check("start heatsolve-mpi instead (make MPI=yes builds it)", err);
}

enum hs_status hs_ranks_end(enum hs_status status)
{
    return status;
}

int hs_ranks_count(void)
{
    return 1;
}

enum hs_status hs_ranks_compare(enum hs_status status, const struct hs_problem *problem,
                                struct hs_error *err)
{
    (void)problem, (void)err;
    return status;
}

void hs_ranks_share(struct hs_problem *problem)
{
    (void)problem;
}

bool hs_ranks_enter(enum hs_status *status, const struct hs_problem *problem,
                    const struct hs_method *method, const struct hs_backend **backend,
                    struct hs_error *err)
{
    (void)status, (void)problem, (void)method, (void)backend, (void)err;
    return true;
}

int hs_ranks_number(void)
{
    return 0;
}

enum hs_status hs_ranks_agree(enum hs_status status, struct hs_error *err)
{
    (void)err;
    return status;
}

void *hs_ranks_gather(const void *here, size_t bytes, size_t **each)
{
    *each = hs_new(sizeof **each);
    **each = bytes;
    return memcpy(hs_new(bytes + 1), here, bytes);
}

void hs_ranks_collect(const void *here, size_t bytes, void *all)
{
    memcpy(all, here, bytes);
}

void hs_ranks_add(double *sum, int64_t count)
{
    (void)sum, (void)count;
}

void hs_ranks_beside(int ranks, void *array, size_t layer, size_t own)
{
    (void)ranks, (void)array, (void)layer, (void)own;
}

double hs_ranks_owned(const struct hs_problem *problem, const struct hs_kernel *kernel)
{
    (void)problem, (void)kernel;
    return 1.0;
}

void hs_ranks_describe(const struct hs_problem *problem, const struct hs_kernel *kernel, char *out,
                       size_t size)
{
    (void)problem, (void)kernel, (void)size;
    out[0] = '\0';
}
