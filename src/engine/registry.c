#include "engine/registry.h"
#include "engine/preference.h"
#include "input/options.h"

#include <stdio.h>
#include <string.h>

#define KERNEL(device, name) extern const struct hs_kernel hs_kernel_##device##_##name;
#define ABSENT(name, device, why)
#include "generated/kernels.h"
#undef KERNEL
#undef ABSENT

#define BACKEND(name) extern const struct hs_backend hs_backend_##name;
#include "generated/backends.h"
#undef BACKEND

const struct hs_kernel *const hs_kernels[] = {
#define KERNEL(device, name) &hs_kernel_##device##_##name,
#define ABSENT(name, device, why)
#include "generated/kernels.h"
#undef KERNEL
#undef ABSENT
    NULL,
};

const struct hs_absent_kernel hs_absent_kernels[] = {
#define KERNEL(device, name)
#define ABSENT(name, device, why) {name, device, why},
#include "generated/kernels.h"
#undef KERNEL
#undef ABSENT
    {NULL, NULL, NULL},
};

/* Best first: "auto" takes the first that is available. */
const struct hs_backend *const hs_backends[] = {
#define BACKEND(name) &hs_backend_##name,
#include "generated/backends.h"
#undef BACKEND
    NULL,
};

static const struct hs_registry this_build = {hs_backends, hs_kernels};

/* ---- names ----------------------------------------------------------------------------------- */

/* Appends to a text of `size` bytes, cutting what does not fit. */
static void append(char *text, size_t size, const char *separator, const char *more)
{
    const size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", used ? separator : "", more);
}

struct place {
    char text[300];
};

/* "case.cfg:12: " for a setting of a config's; "" for what the command line names otherwise. */
static struct place where(const struct hs_problem *problem, enum hs_place which)
{
    struct place place = {""};
    if (problem->place[which])
        snprintf(place.text, sizeof place.text, "%.280s: ", problem->place[which]);
    return place;
}

/* The first line of a message. */
static void append_line(char *text, size_t size, const char *message)
{
    char line[256];
    snprintf(line, sizeof line, "%.*s", (int)strcspn(message, "\n"), message);
    append(text, size, "; ", line);
}

static const struct hs_kernel *kernel_named(const struct hs_registry *registry, const char *name,
                                            enum hs_device device)
{
    for (int n = 0; registry->kernels[n]; n++)
        if (registry->kernels[n]->device == device && strcmp(registry->kernels[n]->name, name) == 0)
            return registry->kernels[n];
    return NULL;
}

static const char *nearest_kernel(const struct hs_registry *registry, const char *name,
                                  enum hs_device device)
{
    const char *nearest = NULL;
    size_t best = strlen(name) / 2 + 1; /* further apart, a suggestion puzzles more than it helps */
    for (int n = 0; registry->kernels[n]; n++) {
        const size_t distance = hs_edit_distance(name, registry->kernels[n]->name);
        if (registry->kernels[n]->device == device && distance < best) {
            best = distance;
            nearest = registry->kernels[n]->name;
        }
    }
    return nearest;
}

/* What is known of a name that this device has no kernel of; "" if nothing. */
static void say_of_name(const struct hs_registry *registry, const char *name, enum hs_device device,
                        char *out, size_t size)
{
    for (int other = 0; other < HS_DEVICES; other++)
        if (kernel_named(registry, name, (enum hs_device)other)) {
            snprintf(out, size, "; it is a kernel of the %s backend",
                     hs_device_name((enum hs_device)other));
            return;
        }
    for (const struct hs_absent_kernel *absent = hs_absent_kernels; absent->name; absent++)
        if (strcmp(absent->name, name) == 0) {
            snprintf(out, size, "; it is a kernel of the %s backend, %s", absent->device,
                     absent->why);
            return;
        }
    const char *nearest = nearest_kernel(registry, name, device);
    snprintf(out, size, "%s%s%s", nearest ? "; did you mean \"" : "", nearest ? nearest : "",
             nearest ? "\"?" : "");
}

static enum hs_status unknown_kernel(const struct hs_registry *registry, const char *name,
                                     enum hs_device device, const char *called,
                                     struct hs_error *err)
{
    char known[1024] = "", more[256];
    for (int n = 0; registry->kernels[n]; n++)
        if (registry->kernels[n]->device == device)
            append(known, sizeof known, ", ", registry->kernels[n]->name);
    say_of_name(registry, name, device, more, sizeof more);
    return hs_error_add(err, HS_BAD_INPUT,
                        "%s \"%s\": the %s backend has none of that name%s (known: %s)", called,
                        name, hs_device_name(device), more, known);
}

static enum hs_status find_kernel(const struct hs_registry *registry, const char *name,
                                  enum hs_device device, const char *called,
                                  const struct hs_kernel **out, struct hs_error *err)
{
    *out = kernel_named(registry, name, device);
    return *out ? HS_OK : unknown_kernel(registry, name, device, called, err);
}

enum hs_status hs_kernel_find(const char *name, enum hs_device device, const struct hs_kernel **out,
                              struct hs_error *err)
{
    return find_kernel(&this_build, name, device, "kernel", out, err);
}

/* ---- the kernel ------------------------------------------------------------------------------ */

static const struct hs_kernel *best_kernel(const struct hs_registry *registry,
                                           const struct hs_problem *problem, enum hs_device device)
{
    char reason[256];
    for (const struct hs_preference *row = hs_preferences(device); row->kernel; row++) {
        const struct hs_kernel *kernel = kernel_named(registry, row->kernel, device);
        if (kernel && hs_preference_holds(row, problem) &&
            hs_kernel_suits(kernel, problem, reason, sizeof reason))
            return kernel;
    }
    const struct hs_kernel *found = NULL;
    for (int n = 0; registry->kernels[n]; n++) {
        const struct hs_kernel *kernel = registry->kernels[n];
        const bool better = !found || strcmp(found->name, "reference") == 0;
        if (kernel->device == device && better &&
            hs_kernel_suits(kernel, problem, reason, sizeof reason))
            found = kernel;
    }
    return found;
}

/* "2D, radius 3, double" */
static void describe_need(const struct hs_problem *problem, char *out, size_t size)
{
    snprintf(out, size, "%dD, radius %d, %s", problem->grid.dims, problem->radius,
             hs_precision_name(problem->precision));
}

static enum hs_status cannot(const struct hs_registry *registry, const struct hs_problem *problem,
                             enum hs_device device, const char *reason, struct hs_error *err)
{
    char able[1024] = "", need[64], unused[256];
    for (int n = 0; registry->kernels[n]; n++)
        if (registry->kernels[n]->device == device &&
            hs_kernel_suits(registry->kernels[n], problem, unused, sizeof unused))
            append(able, sizeof able, ", ", registry->kernels[n]->name);
    describe_need(problem, need, sizeof need);
    return hs_error_add(err, HS_BAD_INPUT,
                        "%ssolver.kernel = \"%s\": %s; kernels that can (%s): %s",
                        where(problem, HS_PLACE_KERNEL).text,
                        problem->solver.kernel ? problem->solver.kernel : "auto", reason, need,
                        able[0] ? able : "none");
}

bool hs_kernel_is_named(const struct hs_problem *problem)
{
    const char *name = problem->solver.kernel;
    return name && strcmp(name, "auto") != 0;
}

static enum hs_status named_kernel(const struct hs_registry *registry,
                                   const struct hs_problem *problem, enum hs_device device,
                                   const struct hs_kernel **out, struct hs_error *err)
{
    char called[sizeof(struct place) + 16];
    snprintf(called, sizeof called, "%s%s", where(problem, HS_PLACE_KERNEL).text,
             problem->place[HS_PLACE_KERNEL] ? "solver.kernel =" : "kernel");
    return find_kernel(registry, problem->solver.kernel, device, called, out, err);
}

static enum hs_status choose_kernel(const struct hs_registry *registry,
                                    const struct hs_problem *problem, enum hs_device device,
                                    const struct hs_kernel **out, struct hs_error *err)
{
    char reason[256];
    if (!hs_kernel_is_named(problem)) {
        *out = best_kernel(registry, problem, device);
        snprintf(reason, sizeof reason, "no %s kernel does it", hs_device_name(device));
        return *out ? HS_OK : cannot(registry, problem, device, reason, err);
    }
    const enum hs_status st = named_kernel(registry, problem, device, out, err);
    if (st)
        return st;
    return hs_kernel_suits(*out, problem, reason, sizeof reason)
               ? HS_OK
               : cannot(registry, problem, device, reason, err);
}

/* ---- the backend ----------------------------------------------------------------------------- */

/* A backend that was asked for and cannot run here: why, and what to do. */
static enum hs_status available(const struct hs_backend *backend, const struct hs_problem *problem,
                                struct hs_error *err)
{
    struct hs_error reason;
    hs_error_init(&reason);
    const enum hs_status st = backend->available(problem->solver.device, &reason);
    if (st)
        hs_error_add(err, st, "%ssolver.backend = \"%s\": %.*s; \"auto\" takes what there is",
                     where(problem, HS_PLACE_BACKEND).text, backend->name,
                     (int)strcspn(reason.text ? reason.text : "", "\n"),
                     reason.text ? reason.text : "");
    hs_error_release(&reason);
    return st;
}

static enum hs_status named_backend(const struct hs_registry *registry,
                                    const struct hs_problem *problem, const struct hs_backend **out,
                                    struct hs_error *err)
{
    const char *name = problem->solver.backend;
    char built[128] = "";
    for (int n = 0; registry->backends[n]; n++) {
        append(built, sizeof built, ", ", registry->backends[n]->name);
        if (strcmp(registry->backends[n]->name, name) == 0)
            *out = registry->backends[n];
    }
    if (*out)
        return available(*out, problem, err);
    const bool known = strcmp(name, "cuda") == 0;
    return hs_error_add(
        err, known ? HS_DEVICE : HS_BAD_INPUT, "%ssolver.backend = \"%s\": %s; this build has: %s",
        where(problem, HS_PLACE_BACKEND).text, name,
        known ? "not built, since nvcc was not found when this program was" : "no such backend",
        built);
}

/* Whether some other device's kernels have the name that was asked for, and this one's do not. */
static bool kernel_is_elsewhere(const struct hs_registry *registry, const char *name,
                                enum hs_device device)
{
    if (!name || strcmp(name, "auto") == 0 || kernel_named(registry, name, device))
        return false;
    for (int other = 0; other < HS_DEVICES; other++)
        if (kernel_named(registry, name, (enum hs_device)other))
            return true;
    return false;
}

/* The first backend that runs here and has the kernel asked for. */
static enum hs_status first_backend(const struct hs_registry *registry,
                                    const struct hs_problem *problem, const struct hs_backend **out,
                                    char *note, size_t size, struct hs_error *err)
{
    char why_not[512] = "";
    for (int n = 0; registry->backends[n] && !*out; n++) {
        const struct hs_backend *backend = registry->backends[n];
        if (kernel_is_elsewhere(registry, problem->solver.kernel, backend->device))
            continue;
        struct hs_error reason;
        hs_error_init(&reason);
        if (backend->available(problem->solver.device, &reason) == HS_OK)
            *out = backend;
        else if (reason.text)
            append_line(why_not, sizeof why_not, reason.text);
        hs_error_release(&reason);
    }
    if (!*out && hs_kernel_is_named(problem))
        return hs_error_add(err, HS_DEVICE,
                            "%ssolver.kernel = \"%s\": the backend that it belongs to cannot run "
                            "here: %s; \"auto\" takes one that can",
                            where(problem, HS_PLACE_KERNEL).text, problem->solver.kernel, why_not);
    if (!*out)
        return hs_error_add(err, HS_DEVICE, "no backend can run here: %s", why_not);
    if (why_not[0])
        snprintf(note, size, "using the %s backend: %s", (*out)->name, why_not);
    return HS_OK;
}

static enum hs_status choose_backend(const struct hs_registry *registry,
                                     const struct hs_problem *problem,
                                     const struct hs_backend **out, char *note, size_t size,
                                     struct hs_error *err)
{
    const char *name = problem->solver.backend;
    *out = NULL;
    if (size > 0)
        note[0] = '\0';
    return !name || strcmp(name, "auto") == 0
               ? first_backend(registry, problem, out, note, size, err)
               : named_backend(registry, problem, out, err);
}

/* Whether the name is one of some device's kernels, or of those that this build lacks. */
static bool is_a_kernel(const struct hs_registry *registry, const char *name)
{
    for (int device = 0; device < HS_DEVICES; device++)
        if (kernel_named(registry, name, (enum hs_device)device))
            return true;
    for (const struct hs_absent_kernel *absent = hs_absent_kernels; absent->name; absent++)
        if (strcmp(absent->name, name) == 0)
            return true;
    return false;
}

/* The backend, and whether there is a kernel of the name asked for; both are said if both are
 * wrong. */
static enum hs_status check_names(const struct hs_registry *registry,
                                  const struct hs_problem *problem,
                                  const struct hs_backend **backend, char *note, size_t size,
                                  struct hs_error *err)
{
    const struct hs_kernel *kernel;
    const enum hs_status st = choose_backend(registry, problem, backend, note, size, err);
    if (!hs_kernel_is_named(problem) || (st && is_a_kernel(registry, problem->solver.kernel)))
        return st;
    const enum hs_device device = *backend ? (*backend)->device : HS_CPU;
    const enum hs_status named = named_kernel(registry, problem, device, &kernel, err);
    return st ? st : named;
}

enum hs_status hs_check_names(const struct hs_problem *problem, struct hs_error *err)
{
    const struct hs_backend *backend;
    char note[16];
    return check_names(&this_build, problem, &backend, note, sizeof note, err);
}

enum hs_status hs_choose_among(const struct hs_registry *registry, const struct hs_problem *problem,
                               const struct hs_backend **backend, const struct hs_kernel **kernel,
                               char *note, size_t size, struct hs_error *err)
{
    *kernel = NULL;
    const enum hs_status st = check_names(registry, problem, backend, note, size, err);
    return st ? st : choose_kernel(registry, problem, (*backend)->device, kernel, err);
}

enum hs_status hs_choose(const struct hs_problem *problem, const struct hs_backend **backend,
                         const struct hs_kernel **kernel, char *note, size_t size,
                         struct hs_error *err)
{
    return hs_choose_among(&this_build, problem, backend, kernel, note, size, err);
}
