/* A case, read and held against this build: what commands that take a config begin with. */
#ifndef HS_ENGINE_CASE_H
#define HS_ENGINE_CASE_H

#include "core/problem.h"
#include "input/arguments.h"

/* What such a command is asked; zeros to begin. */
struct hs_case_request {
    const char *config;
    struct hs_argument_list set; /* hs_argument_list_release */
    const char *output;          /* instead of output.file; NULL: that */
    bool quiet, json;
    bool together;           /* all ranks read it; else the first alone */
    struct hs_error *doubts; /* as of hs_config_how */
};

/* Rows of its table of arguments. */
#define HS_CASE_ARGUMENTS(request)                                                                 \
    {NULL, HS_ARGUMENT_STRING, &(request)->config, "a config file"},                               \
        {"--set", HS_ARGUMENT_LIST, &(request)->set, "KEY=VALUE"},                                 \
        {"--quiet", HS_ARGUMENT_FLAG, &(request)->quiet, NULL},                                    \
    {                                                                                              \
        "--json", HS_ARGUMENT_FLAG, &(request)->json, NULL                                         \
    }

/* Of commands that say where the output goes. */
#define HS_CASE_OUTPUT(request)                                                                    \
    {                                                                                              \
        "--output", HS_ARGUMENT_STRING, &(request)->output, "FILE"                                 \
    }

/*
 * hs_config_read, and where something is wrong with the config what else is wrong with it that only
 * the engine knows: names of backends and kernels, and steps where they follow from keys in order.
 * (Of a config in order hs_plan_make tells.) So all mistakes are reported at once. On a rank that
 * is not the first, numbers for each node stay in their files, and a body has no network in
 * the end. Ranks that read a case together share the work of it, and fail if one of them does.
 */
enum hs_status hs_case_read(const struct hs_case_request *request, struct hs_problem *out,
                            struct hs_error *err);

/* For what is about sweeps, whatever the case goes by: as if the config named no methods, nor, with
 * one whose steps may be longer than a stable sweep, their length. */
void hs_case_by_sweeps(struct hs_problem *problem);

#endif
