#include "engine/ranks/launcher.h"

#include <stdlib.h>

/* Variables in which launchers tell each process how many there are, and which it is. */
static const struct {
    const char *count, *rank;
} launchers[] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
    {"PMI_SIZE", "PMI_RANK"},               /* MPICH, Intel MPI */
    {"MPI_LOCALNRANKS", "MPI_LOCALRANKID"}, /* on one machine: theirs, where PMI goes by a port */
    {"MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK"},
    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"},
};

static int number_of(const char *name)
{
    const char *value = getenv(name);
    return value ? atoi(value) : 0;
}

enum hs_status hs_launcher_check(const char *remedy, struct hs_error *err)
{
    for (size_t n = 0; n < sizeof launchers / sizeof *launchers; n++) {
        const char *name = launchers[n].count;
        const int count = number_of(name);
        if (count < 2)
            continue;
        if (number_of(launchers[n].rank) > 0)
            return HS_BAD_INPUT;
        return hs_error_add(err, HS_BAD_INPUT,
                            "started as %d processes (%s), each of which would do the whole run: "
                            "%s; or, to have each do a run of its own, env -u %s heatsolve ...",
                            count, name, remedy, name);
    }
    return HS_OK;
}
