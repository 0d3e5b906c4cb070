/* Reads a case and checks it against this build: how each command that takes a config begins. */
#ifndef HS_ENGINE_CASE_H
#define HS_ENGINE_CASE_H

#include "core/problem.h"
#include "input/arguments.h"

/* Arguments of such a command; initialise with zeros. */
struct hs_case_request {
    const char *config;
    struct hs_argument_list set; /* hs_argument_list_release */
    const char *output;          /* overrides output.file; NULL: does not */
    bool quiet, json;
    bool together;           /* all ranks read it; otherwise the first alone */
    struct hs_error *doubts; /* as in hs_config_how */
};

/* Its rows in the table of arguments. */
#define HS_CASE_ARGUMENTS(request)                                                                 \
    {NULL, HS_ARGUMENT_STRING, &(request)->config, "a config file"},                               \
        {"--set", HS_ARGUMENT_LIST, &(request)->set, "KEY=VALUE"},                                 \
        {"--quiet", HS_ARGUMENT_FLAG, &(request)->quiet, NULL},                                    \
    {                                                                                              \
        "--json", HS_ARGUMENT_FLAG, &(request)->json, NULL                                         \
    }

/* The row of commands that choose the output file. */
#define HS_CASE_OUTPUT(request)                                                                    \
    {                                                                                              \
        "--output", HS_ARGUMENT_STRING, &(request)->output, "FILE"                                 \
    }

/*
 * Calls hs_config_read. If the config is wrong, adds the errors that only the engine can find:
 * names of backends and kernels, and steps, where the keys that they follow from are correct. So
 * all mistakes are reported at once. (For a correct config hs_plan_make reports these.) On a rank
 * other than the first, numbers given for each node stay in their files, and a body ends up without
 * a network. Ranks that read a case together share the work, all fail if one fails, and each has
 * its share of the machine afterwards.
 */
enum hs_status hs_case_read(const struct hs_case_request *request, struct hs_problem *out,
                            struct hs_error *err);

/* For questions about sweeps, whatever method the case uses: removes the methods and time.tolerance
 * from the problem, and time.step too if the method's steps may be longer than a stable sweep. */
void hs_case_by_sweeps(struct hs_problem *problem);

#endif
