/* heatsolve kernels: every kernel of the source tree, what it can do, and whether it is built. */
#include "commands/command.h"
#include "engine/registry.h"
#include "input/arguments.h"
#include "output/json.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* "1 2 3" from a set of bits */
static const char *digits(unsigned bits, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < 8 && used + 3 < size; i++)
        if (bits & (1u << i))
            used += (size_t)snprintf(out + used, size - used, "%s%d", used ? " " : "", i);
    return out;
}

static const char *precisions(unsigned bits)
{
    static const char *const names[] = {"", "float", "double", "float double"};
    return names[bits & 3];
}

static void print_text(void)
{
    const char *const format = "%-20s %-6s %-6s %-7s %-13s %5s  %s\n";
    char dims[32], radius[32], steps[16];
    printf(format, "kernel", "device", "dims", "radius", "precision", "steps", "idea");
    for (int n = 0; hs_kernels[n]; n++) {
        const struct hs_kernel *k = hs_kernels[n];
        snprintf(steps, sizeof steps, "%d", k->steps);
        printf(format, k->name, hs_device_name(k->device), digits(k->dims, dims, sizeof dims),
               digits(k->radius, radius, sizeof radius), precisions(k->precision), steps, k->idea);
    }
    for (const struct hs_absent_kernel *absent = hs_absent_kernels; absent->name; absent++)
        printf(format, absent->name, absent->device, "", "", "", "", absent->why);
}

static void json_bits(struct hs_json *json, const char *key, unsigned bits)
{
    int64_t values[8];
    int count = 0;
    for (int i = 0; i < 8; i++)
        if (bits & (1u << i))
            values[count++] = i;
    hs_json_integers(json, key, values, count);
}

static void json_kernel(struct hs_json *json, const struct hs_kernel *k)
{
    hs_json_open(json, NULL);
    hs_json_text(json, "name", k->name);
    hs_json_text(json, "device", hs_device_name(k->device));
    json_bits(json, "dims", k->dims);
    json_bits(json, "radius", k->radius);
    hs_json_open_array(json, "precision");
    for (int p = 0; p < HS_PRECISIONS; p++)
        if (k->precision & (1u << p))
            hs_json_text(json, NULL, hs_precision_name((enum hs_precision)p));
    hs_json_close_array(json);
    hs_json_integer(json, "steps", k->steps);
    hs_json_text(json, "idea", k->idea);
    hs_json_text(json, "origin", k->origin);
    hs_json_flag(json, "built", true);
    hs_json_close(json);
}

static void print_json(void)
{
    struct hs_json json = hs_json_on(stdout);
    hs_json_open(&json, NULL);
    hs_json_open_array(&json, "kernels");
    for (int n = 0; hs_kernels[n]; n++)
        json_kernel(&json, hs_kernels[n]);
    for (const struct hs_absent_kernel *absent = hs_absent_kernels; absent->name; absent++) {
        hs_json_open(&json, NULL);
        hs_json_text(&json, "name", absent->name);
        hs_json_text(&json, "device", absent->device);
        hs_json_flag(&json, "built", false);
        hs_json_text(&json, "why", absent->why);
        hs_json_close(&json);
    }
    hs_json_close_array(&json);
    hs_json_close(&json);
}

static enum hs_status run(int argc, char **argv, struct hs_error *err)
{
    bool json = false;
    const struct hs_argument table[] = {{"--json", HS_ARGUMENT_FLAG, &json, ""}};
    const enum hs_status status = hs_arguments_read(argc, argv, table, 1, err);
    if (status)
        return status;
    if (json)
        print_json();
    else
        print_text();
    return HS_OK;
}

const struct hs_command hs_command_kernels = {
    .name = "kernels",
    .usage = "heatsolve kernels [--json]",
    .summary = "the kernels: what each can do, its idea, built or why not",
    .help = "  --json   one JSON object\n\n"
            "steps: sweeps that one call can fuse. heatsolve bench compares their speed.\n",
    .run = run,
};
