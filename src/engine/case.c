#include "engine/case.h"

#include "core/memory.h"
#include "core/regular.h"
#include "engine/make_plan.h"
#include "engine/network/of_problem.h"
#include "engine/ranks/ranks.h"
#include "engine/registry.h"
#include "input/config.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --output as one more override, with " and \ escaped as in a config's strings. */
static char *output_override(const char *file)
{
    static const char key[] = "output.file=\"";
    char *text = hs_new(sizeof key + 2 * strlen(file) + 2);
    size_t used = sizeof key - 1;
    memcpy(text, key, used);
    for (; *file; file++) {
        if (*file == '"' || *file == '\\')
            text[used++] = '\\';
        text[used++] = *file;
    }
    memcpy(text + used, "\"", 2);
    return text;
}

/* Of a pipe only one rank would get the config. What is not there is the reader's to say. */
static enum hs_status check_for_ranks(const char *config, struct hs_error *err)
{
    const char *why;
    const int file = hs_regular_open(config, false, &why);
    if (file >= 0)
        close(file);
    if (file >= 0 || errno != 0)
        return HS_OK;
    return hs_error_add(err, HS_IO, "%s: cannot open: %s; each of the %d ranks reads the config",
                        config, why, hs_ranks_count());
}

/* The first rank's device wakes meanwhile; others wake when the first makes the plan. */
static enum hs_status make_network(struct hs_problem *problem, bool together, struct hs_error *err)
{
    struct hs_waking waking = {.started = false};
    if (problem->body && hs_ranks_is_first())
        waking = hs_wake_begin(problem);
    const enum hs_status st = hs_network_of_problem(problem, together, err);
    hs_wake_end(&waking);
    return st;
}

enum hs_status hs_case_read(const struct hs_case_request *request, struct hs_problem *out,
                            struct hs_error *err)
{
    const enum hs_config_numbers numbers = !hs_ranks_is_first()   ? HS_NUMBERS_LEFT
                                           : hs_ranks_count() > 1 ? HS_NUMBERS_PASSED
                                                                  : HS_NUMBERS_KEPT;
    const struct hs_config_how how = {numbers, request->output ? "--output" : NULL,
                                      request->doubts};
    const int count = request->set.count;
    const char **set = hs_new(((size_t)count + 1) * sizeof *set);
    for (int n = 0; n < count; n++)
        set[n] = request->set.items[n];
    char *output = request->output ? output_override(request->output) : NULL;
    set[count] = output;
    const bool together = request->together && hs_ranks_count() > 1;
    const enum hs_status file = together ? check_for_ranks(request->config, err) : HS_OK;
    enum hs_status st =
        file ? file : hs_config_read(request->config, set, count + (output ? 1 : 0), how, out, err);
    free(set);
    free(output);
    if (st && !file) {
        struct hs_plan plan;
        if (out->steps_known && !out->body)
            hs_plan_steps(out, &plan, err);
        hs_check_names(out, err);
    }
    if (together)
        st = hs_ranks_compare(st, out, err);
    if (!st)
        st = make_network(out, together, err);
    if (!st && together)
        hs_ranks_share(out);
    return st;
}

void hs_case_by_sweeps(struct hs_problem *problem)
{
    struct hs_schedule *schedule = &problem->schedule;
    const struct hs_method *method = hs_method_named(schedule->method);
    if (method && method->step_rule != HS_STEP_STABLE)
        schedule->step = NAN;
    schedule->tolerance = 0.0;
    free(schedule->method);
    free(schedule->steady_method);
    schedule->method = schedule->steady_method = NULL;
}
