/* Checks that all ranks were given the same. Call each on all ranks at once; HS_BAD_INPUT on all,
 * and on rank 0 the message of the first rank that was given something else. */
#ifndef HS_ENGINE_RANKS_MPI_SAME_H
#define HS_ENGINE_RANKS_MPI_SAME_H

#include "core/problem.h"

/* The command line, except for the program's name. */
enum hs_status hs_same_arguments(int argc, char **argv, struct hs_error *err);

/* The config, with what it includes, and the files that it names. */
enum hs_status hs_same_inputs(const struct hs_problem *problem, struct hs_error *err);

#endif
