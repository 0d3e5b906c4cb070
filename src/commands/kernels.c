/*
 * heatsolve kernels: lists every kernel of the source tree, what it can do, and whether it is
 * built; with a config, whether it can handle that case, and which kernel auto takes.
 */
#include "commands/command.h"
#include "core/text.h"
#include "engine/case.h"
#include "engine/measure/trial.h"
#include "engine/registry.h"
#include "output/json.h"
#include "output/tune_file.h"

#include <stdbool.h>
#include <stdio.h>

/* A config's case, against which the kernels are checked. */
struct asked {
    struct hs_problem problem;
    struct hs_plan plan; /* as auto makes it, whatever kernel the config names */
};

static enum hs_status read_request(int argc, char **argv, struct hs_case_request *request,
                                   struct hs_error *err)
{
    const struct hs_argument table[] = {
        {NULL, HS_ARGUMENT_OPTIONAL, &request->config, "a config file"},
        {"--set", HS_ARGUMENT_LIST, &request->set, "KEY=VALUE"},
        {"--json", HS_ARGUMENT_FLAG, &request->json, NULL},
    };
    const enum hs_status st =
        hs_arguments_read(argc, argv, table, sizeof table / sizeof *table, err);
    if (!st && request->set.count && !request->config)
        return hs_error_add(err, HS_BAD_INPUT, "kernels: --set: needs a config file");
    return st;
}

static enum hs_status read_case(const struct hs_case_request *request, struct asked *out,
                                struct hs_error *err)
{
    HS_TRY(hs_case_read(request, &out->problem, err));
    struct hs_problem free_to_choose = out->problem;
    free_to_choose.solver.kernel = NULL;
    return hs_tune_file_plan(&free_to_choose, &out->plan, err);
}

/* Whether the kernel can handle the case, else why not. */
static bool suits(const struct asked *asked, const struct hs_kernel *k, char *reason, size_t size)
{
    if (!k->sweep || k->device == asked->plan.backend->device)
        return hs_kernel_suits(k, &asked->problem, reason, size);
    snprintf(reason, size, "for the %s backend; this case runs on %s", hs_device_name(k->device),
             asked->plan.backend->name);
    return false;
}

/* ---- for people ------------------------------------------------------------------------------ */

/* The values 1 to 3 that the kernel supports: "1 2 3". */
static const char *digits(const struct hs_kernel *k, hs_features (*feature)(int), char *out,
                          size_t size)
{
    out[0] = '\0';
    for (int i = 1; i <= 3; i++)
        if (k->features & feature(i))
            hs_text_append(out, size, "%s%d", *out ? " " : "", i);
    return out;
}

static const char *precisions(hs_features features)
{
    const bool in_float = features & HS_IN_FLOAT, in_double = features & HS_IN_DOUBLE;
    return in_float && in_double ? "float double" : in_float ? "float" : "double";
}

static void print_text(void)
{
    const char *const format = "%-20s %-6s %-6s %-7s %-13s %5s  %s%s\n";
    char dims[32], radius[32], steps[16];
    bool lacking = false;
    printf(format, "kernel", "device", "dims", "radius", "precision", "steps", "idea", "");
    for (int n = 0; hs_kernels[n]; n++) {
        const struct hs_kernel *k = hs_kernels[n];
        snprintf(steps, sizeof steps, "%d", k->steps);
        printf(format, k->name, hs_device_name(k->device),
               digits(k, hs_feature_dims, dims, sizeof dims),
               digits(k, hs_feature_radius, radius, sizeof radius), precisions(k->features), steps,
               k->idea, k->sweep ? "" : " (not built)");
        lacking = lacking || !k->sweep;
    }
    if (lacking)
        printf("cuda: %s\n", HS_NOT_BUILT);
}

static void print_case(const struct asked *asked)
{
    const char *const format = "%-20s %-6s %-4s %s\n";
    char reason[256];
    const bool trial = hs_trial_due(hs_kernels, &asked->problem, &asked->plan, 0);
    printf(format, "kernel", "device", "can", "remark");
    for (int n = 0; hs_kernels[n]; n++) {
        const struct hs_kernel *k = hs_kernels[n];
        const bool can = suits(asked, k, reason, sizeof reason);
        const char *taken = asked->plan.choice == HS_CHOICE_TUNED ? "auto takes it, as tuned"
                            : trial ? "auto tries it first, against the others"
                                    : "auto takes it";
        printf(format, k->name, hs_device_name(k->device), can ? "yes" : "no",
               k == asked->plan.kernel ? taken
               : can                   ? ""
                                       : reason);
    }
    if (asked->plan.note[0])
        printf("note: %s\n", asked->plan.note);
}

/* ---- for programs ---------------------------------------------------------------------------- */

static void json_digits(struct hs_json *json, const char *key, const struct hs_kernel *k,
                        hs_features (*feature)(int))
{
    int64_t values[3];
    int count = 0;
    for (int i = 1; i <= 3; i++)
        if (k->features & feature(i))
            values[count++] = i;
    hs_json_integers(json, key, values, count);
}

static void json_kernel(struct hs_json *json, const struct asked *asked, const struct hs_kernel *k)
{
    hs_json_open(json, NULL);
    hs_json_text(json, "name", k->name);
    hs_json_text(json, "device", hs_device_name(k->device));
    json_digits(json, "dims", k, hs_feature_dims);
    json_digits(json, "radius", k, hs_feature_radius);
    hs_json_open_array(json, "precision");
    for (int p = 0; p < HS_PRECISIONS; p++)
        if (k->features & hs_feature_precision((enum hs_precision)p))
            hs_json_text(json, NULL, hs_precision_name((enum hs_precision)p));
    hs_json_close(json);
    hs_json_integer(json, "steps", k->steps);
    hs_json_text(json, "idea", k->idea);
    hs_json_text(json, "origin", k->origin);
    hs_json_flag(json, "built", k->sweep != NULL);
    if (asked) {
        char reason[256];
        const bool can = suits(asked, k, reason, sizeof reason);
        hs_json_flag(json, "suits", can);
        hs_json_text(json, "why", can ? NULL : reason);
        hs_json_flag(json, "auto", k == asked->plan.kernel);
    } else if (!k->sweep)
        hs_json_text(json, "why", HS_NOT_BUILT);
    hs_json_close(json);
}

static void print_json(const struct asked *asked)
{
    struct hs_json json = {.stream = stdout};
    hs_json_open(&json, NULL);
    if (asked)
        hs_json_text(&json, "kernel_choice", hs_choice_name(asked->plan.choice));
    hs_json_open_array(&json, "kernels");
    for (int n = 0; hs_kernels[n]; n++)
        json_kernel(&json, asked, hs_kernels[n]);
    hs_json_close(&json);
    hs_json_close(&json);
}

static enum hs_status run(int argc, char **argv, struct hs_error *err)
{
    struct hs_case_request request = {0};
    struct asked asked = {.plan = {.sweeps = 0}};
    hs_problem_init(&asked.problem);
    enum hs_status st = read_request(argc, argv, &request, err);
    if (!st && request.config)
        st = read_case(&request, &asked, err);
    if (!st && request.json)
        print_json(request.config ? &asked : NULL);
    else if (!st && request.config)
        print_case(&asked);
    else if (!st)
        print_text();
    hs_problem_release(&asked.problem);
    hs_argument_list_release(&request.set);
    return st;
}

const struct hs_command hs_command_kernels = {
    .name = "kernels",
    .usage = "heatsolve kernels [CONFIG] [--set KEY=VALUE]... [--json]",
    .summary = "list the kernels, what each can do, and which are built",
    .help = "  CONFIG           which of them can do this case, and which auto takes\n"
            "  --set KEY=VALUE  overrides a key of the config; may be repeated\n"
            "  --json           one JSON object\n"
            "\n"
            "steps: sweeps that one call can fuse. heatsolve bench and tune compare their speed.\n",
    .run = run,
};
