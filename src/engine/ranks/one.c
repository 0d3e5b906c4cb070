/* The program for one rank. */
#include "engine/ranks/ranks.h"

#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

/* Variables in which launchers tell each process how many there are, and which it is. */
static const struct {
    const char *count, *rank;
} launchers[] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
    {"PMI_SIZE", "PMI_RANK"},
    {"MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK"},
    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"},
};

static int number_of(const char *name)
{
    const char *value = getenv(name);
    return value ? atoi(value) : 0;
}

static int number; /* of this one, as its launcher says; not 0 only where it is refused */

enum hs_status hs_ranks_begin(int *argc, char ***argv, struct hs_error *err)
{
    (void)argc, (void)argv;
    for (size_t n = 0; n < sizeof launchers / sizeof *launchers; n++) {
        const int count = number_of(launchers[n].count);
        if (count < 2)
            continue;
        number = number_of(launchers[n].rank);
        return hs_error_add(
            err, HS_BAD_INPUT,
            "started as %d processes (%s), each of which would do the whole run: "
            "start heatsolve-mpi instead (make MPI=yes builds it); or, to have each "
            "do a run of its own, env -u %s heatsolve ...",
            count, launchers[n].count, launchers[n].count);
    }
    return HS_OK;
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
    return number;
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
