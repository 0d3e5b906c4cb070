#include "engine/registry.h"

#include "core/device.h"
#include "core/text.h"
#include "core/thread.h"
#include "engine/heuristic.h"
#include "engine/threads.h"
#include "engine/walls/boundary_data.h"
#include "input/options.h"

#include <stdio.h>
#include <string.h>

#define KERNEL(device, name) extern const struct hs_kernel hs_kernel_##device##_##name;
#include "generated/kernels.h"
#undef KERNEL

#define BACKEND(name) extern const struct hs_backend hs_backend_##name;
#include "generated/backends.h"
#undef BACKEND

const struct hs_kernel *const hs_kernels[] = {
#define KERNEL(device, name) &hs_kernel_##device##_##name,
#include "generated/kernels.h"
#undef KERNEL
    NULL,
};

/* Best first: "auto" takes the first that is available. */
const struct hs_backend *const hs_backends[] = {
#define BACKEND(name) &hs_backend_##name,
#include "generated/backends.h"
#undef BACKEND
    NULL,
};

#define METHOD(name) extern const struct hs_method hs_method_##name;
#include "generated/methods.h"
#undef METHOD

const struct hs_method *const hs_methods[] = {
#define METHOD(name) &hs_method_##name,
#include "generated/methods.h"
#undef METHOD
    NULL,
};

const struct hs_method *hs_method_named(const char *name)
{
    for (int n = 0; hs_methods[n] && name; n++)
        if (strcmp(hs_methods[n]->name, name) == 0)
            return hs_methods[n];
    return NULL;
}

static const struct hs_registry this_build = {hs_backends, hs_kernels};

/* ---- names ----------------------------------------------------------------------------------- */

struct key {
    char text[300];
};

/* "case.cfg:12: solver.kernel =", or the option of the command that gave the name: "--kernel". */
static struct key key_of(const struct hs_problem *problem, enum hs_place which)
{
    const char *name = which == HS_PLACE_KERNEL ? "kernel" : "backend";
    const char *place = problem->place[which];
    struct key key;
    if (place)
        snprintf(key.text, sizeof key.text, "%.280s: solver.%s =", place, name);
    else
        snprintf(key.text, sizeof key.text, "--%s", name);
    return key;
}

/* Appends the first line of a message. */
static void append_line(char *text, size_t size, const char *separator, const char *message)
{
    char line[256];
    snprintf(line, sizeof line, "%.*s", (int)strcspn(message, "\n"), message);
    hs_text_add(text, size, separator, line);
}

static const struct hs_kernel *kernel_named(const struct hs_registry *registry, const char *name,
                                            enum hs_device device)
{
    for (int n = 0; registry->kernels[n]; n++) {
        const struct hs_kernel *kernel = registry->kernels[n];
        if (kernel->sweep && kernel->device == device && strcmp(kernel->name, name) == 0)
            return kernel;
    }
    return NULL;
}

/* The kernel with the nearest name, of any device; of two equally near, that of `device`. NULL if
 * none is near. */
static const struct hs_kernel *nearest_kernel(const struct hs_registry *registry, const char *name,
                                              enum hs_device device)
{
    const struct hs_kernel *nearest = NULL;
    size_t best = strlen(name) / 2 + 1; /* further apart, a suggestion puzzles more than it helps */
    for (int n = 0; registry->kernels[n]; n++) {
        const struct hs_kernel *next = registry->kernels[n];
        const size_t distance = hs_edit_distance(name, next->name);
        if (distance < best ||
            (distance == best && nearest && next->device == device && nearest->device != device)) {
            best = distance;
            nearest = next;
        }
    }
    return nearest;
}

static const struct hs_backend *backend_of(const struct hs_registry *registry,
                                           enum hs_device device)
{
    for (int n = 0; registry->backends[n]; n++)
        if (registry->backends[n]->device == device)
            return registry->backends[n];
    return NULL;
}

const struct hs_backend *hs_backend_of(enum hs_device device)
{
    return backend_of(&this_build, device);
}

/* "a kernel of the cuda backend", and why that cannot run here, if so. */
static void say_whose(const struct hs_registry *registry, const struct hs_kernel *kernel,
                      int device_number, char *out, size_t size)
{
    const struct hs_backend *backend = backend_of(registry, kernel->device);
    struct hs_error reason = {0};
    snprintf(out, size, "a kernel of the %s backend", hs_device_name(kernel->device));
    if (!kernel->sweep)
        hs_text_add(out, size, ", ", HS_NOT_BUILT);
    else if (!backend)
        hs_text_add(out, size, ", ", "which this build lacks");
    else if (backend->available(device_number, &reason)) {
        hs_text_add(out, size, ", ", "which cannot run here");
        append_line(out, size, ": ", reason.text ? reason.text : "");
    }
    hs_error_release(&reason);
}

/* Where a name is searched. */
struct search {
    const struct hs_registry *registry;
    enum hs_device device;
    bool anywhere;     /* a kernel of any device that runs here would do */
    int device_number; /* solver.device */
};

/* Describes the nearest match of a name that the search did not find; "" if there is none. */
static void say_of_name(const struct search *search, const char *name, char *out, size_t size)
{
    const struct hs_kernel *nearest = nearest_kernel(search->registry, name, search->device);
    if (!nearest)
        return;
    char whose[400];
    say_whose(search->registry, nearest, search->device_number, whose, sizeof whose);
    if (strcmp(nearest->name, name) == 0)
        snprintf(out, size, "; it is %s", whose);
    else if (nearest->device == search->device)
        snprintf(out, size, "; did you mean \"%s\"?", nearest->name);
    else
        snprintf(out, size, "; did you mean \"%s\"? It is %s", nearest->name, whose);
}

/* Whether the search covers kernels of that device. */
static bool is_searched(const struct search *search, enum hs_device device)
{
    if (device == search->device)
        return true;
    const struct hs_backend *backend = backend_of(search->registry, device);
    return search->anywhere && backend && backend->available(search->device_number, NULL) == HS_OK;
}

static enum hs_status unknown_kernel(const struct search *search, const char *name,
                                     const char *called, struct hs_error *err)
{
    const char *device = hs_device_name(search->device);
    char known[1024] = "", more[512] = "", has[64] = "no kernel has that name";
    for (int n = 0; search->registry->kernels[n]; n++)
        if (is_searched(search, search->registry->kernels[n]->device))
            hs_text_add(known, sizeof known, ", ", search->registry->kernels[n]->name);
    say_of_name(search, name, more, sizeof more);
    if (!search->anywhere)
        snprintf(has, sizeof has, "the %s backend has none of that name", device);
    return hs_error_add(err, HS_BAD_INPUT, "%s \"%s\": %s%s (known%s: %s)", called, name, has, more,
                        search->anywhere ? " here" : "", known);
}

static enum hs_status find_kernel(const struct search *search, const char *name, const char *called,
                                  const struct hs_kernel **out, struct hs_error *err)
{
    *out = kernel_named(search->registry, name, search->device);
    return *out ? HS_OK : unknown_kernel(search, name, called, err);
}

enum hs_status hs_kernel_find(const char *name, enum hs_device device, const struct hs_kernel **out,
                              struct hs_error *err)
{
    const struct search search = {&this_build, device, false, 0};
    return find_kernel(&search, name, "kernel", out, err);
}

/* ---- the kernel ------------------------------------------------------------------------------ */

/* Limits of the device of that number; NULL if its backend reports none. */
static const struct hs_device_limits *limits_here(enum hs_device device, int number)
{
    static struct hs_device_limits limits;
    const struct hs_backend *backend = hs_backend_of(device);
    if (!backend || !backend->limits)
        return NULL;
    const bool known = backend->available(number, NULL) == HS_OK &&
                       backend->limits(number, &limits, NULL) == HS_OK;
    return known ? &limits : NULL;
}

bool hs_kernel_plan_here(const struct hs_kernel *kernel, const struct hs_problem *problem,
                         struct hs_kernel_plan *out, char *reason, size_t size)
{
    *out = (struct hs_kernel_plan){.steps = kernel->steps};
    if (!kernel->sweep) {
        snprintf(reason, size, "%s", HS_NOT_BUILT);
        return false;
    }
    const struct hs_backend *backend = hs_backend_of(kernel->device);
    const struct hs_layout layout =
        backend ? backend->layout(problem) : hs_layout_make(&problem->grid, problem->radius, 16);
    const struct hs_case of = hs_kernel_case(problem, &layout, hs_threads_of(problem));
    const struct hs_device_limits *limits =
        kernel->plan ? limits_here(kernel->device, problem->solver.device) : NULL;
    if (kernel->plan && kernel->device == HS_CUDA && !limits) {
        snprintf(reason, size, "%s needs a GPU", kernel->name);
        return false;
    }
    return hs_kernel_plan_make(kernel, &of, limits, out, reason, size);
}

bool hs_kernel_suits(const struct hs_kernel *kernel, const struct hs_problem *problem, char *reason,
                     size_t size)
{
    struct hs_kernel_plan unused;
    return hs_kernel_plan_here(kernel, problem, &unused, reason, size);
}

int hs_kernel_steps_for(const struct hs_kernel *kernel, const struct hs_problem *problem)
{
    struct hs_kernel_plan plan;
    hs_kernel_plan_here(kernel, problem, &plan, NULL, 0);
    return plan.steps;
}

/* The first of the heuristics that can. `alone`: only kernels that make one sweep per call;
 * `recursive`: only those that have calls of a recursion. */
static const struct hs_kernel *by_heuristic(const struct hs_registry *registry,
                                            const struct hs_problem *problem, enum hs_device device,
                                            bool alone, bool recursive)
{
    struct hs_kernel_plan plan;
    for (const struct hs_heuristic *row = hs_heuristics(device); row->kernel; row++) {
        const struct hs_kernel *kernel = kernel_named(registry, row->kernel, device);
        if (kernel && !(alone && kernel->steps > 1) && hs_heuristic_holds(row, problem) &&
            hs_kernel_plan_here(kernel, problem, &plan, NULL, 0) &&
            (!recursive || plan.recursion > 0))
            return kernel;
    }
    return NULL;
}

static const struct hs_kernel *best_kernel(const struct hs_registry *registry,
                                           const struct hs_problem *problem, enum hs_device device,
                                           bool alone)
{
    const struct hs_kernel *first = by_heuristic(registry, problem, device, alone, false);
    if (first)
        return first;
    const struct hs_kernel *found = NULL;
    for (int n = 0; registry->kernels[n]; n++) {
        const struct hs_kernel *kernel = registry->kernels[n];
        const bool better = !found || strcmp(found->name, "reference") == 0;
        if (kernel->device == device && better && !(alone && kernel->steps > 1) &&
            hs_kernel_suits(kernel, problem, NULL, 0))
            found = kernel;
    }
    return found;
}

const struct hs_kernel *hs_kernel_for_stages(const struct hs_problem *problem,
                                             const struct hs_kernel *kernel)
{
    const struct hs_kernel *found = NULL;
    if (!hs_boundary_data_in_time(problem))
        found = by_heuristic(&this_build, problem, kernel->device, false, true);
    if (!found)
        found = best_kernel(&this_build, problem, kernel->device, true);
    return found ? found : kernel;
}

static enum hs_status cannot(const struct hs_registry *registry, const struct hs_problem *problem,
                             enum hs_device device, const char *reason, struct hs_error *err)
{
    char able[1024] = "";
    for (int n = 0; registry->kernels[n]; n++)
        if (registry->kernels[n]->device == device &&
            hs_kernel_suits(registry->kernels[n], problem, NULL, 0))
            hs_text_add(able, sizeof able, ", ", registry->kernels[n]->name);
    return hs_error_add(
        err, HS_BAD_INPUT, "%s \"%s\": %s; kernels that can (%dD, radius %d, %s): %s",
        key_of(problem, HS_PLACE_KERNEL).text,
        problem->solver.kernel ? problem->solver.kernel : "auto", reason, problem->grid.dims,
        problem->radius, hs_precision_name(problem->precision), able[0] ? able : "none");
}

static bool is_named(const char *choice)
{
    return choice && strcmp(choice, "auto") != 0;
}

bool hs_kernel_is_named(const struct hs_problem *problem)
{
    return is_named(problem->solver.kernel);
}

static enum hs_status named_kernel(const struct hs_registry *registry,
                                   const struct hs_problem *problem, enum hs_device device,
                                   const struct hs_kernel **out, struct hs_error *err)
{
    const struct search search = {registry, device, !is_named(problem->solver.backend),
                                  problem->solver.device};
    return find_kernel(&search, problem->solver.kernel, key_of(problem, HS_PLACE_KERNEL).text, out,
                       err);
}

static enum hs_status choose_kernel(const struct hs_registry *registry,
                                    const struct hs_problem *problem, enum hs_device device,
                                    const struct hs_kernel **out, struct hs_error *err)
{
    char reason[256];
    if (!hs_kernel_is_named(problem)) {
        *out = best_kernel(registry, problem, device, false);
        snprintf(reason, sizeof reason, "no %s kernel does it", hs_device_name(device));
        return *out ? HS_OK : cannot(registry, problem, device, reason, err);
    }
    HS_TRY(named_kernel(registry, problem, device, out, err));
    return hs_kernel_suits(*out, problem, reason, sizeof reason)
               ? HS_OK
               : cannot(registry, problem, device, reason, err);
}

/* ---- the backend ----------------------------------------------------------------------------- */

/* Checks the backend that was asked for; if it cannot run here, says why and what to do. */
static enum hs_status available(const struct hs_backend *backend, const struct hs_problem *problem,
                                struct hs_error *err)
{
    struct hs_error reason = {0};
    const enum hs_status st = backend->available(problem->solver.device, &reason);
    if (st)
        hs_error_add(err, st, "%s \"%s\": %.*s; \"auto\" takes what there is",
                     key_of(problem, HS_PLACE_BACKEND).text, backend->name,
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
        hs_text_add(built, sizeof built, ", ", registry->backends[n]->name);
        if (strcmp(registry->backends[n]->name, name) == 0)
            *out = registry->backends[n];
    }
    if (*out)
        return available(*out, problem, err);
    const bool known = strcmp(name, "cuda") == 0;
    return hs_error_add(err, known ? HS_DEVICE : HS_BAD_INPUT, "%s \"%s\": %s; this build has: %s",
                        key_of(problem, HS_PLACE_BACKEND).text, name,
                        known ? HS_NOT_BUILT : "is neither \"cpu\" nor \"cuda\"", built);
}

/* The kernel of that name, preferably of `device`; NULL if there is none. */
static const struct hs_kernel *exactly(const struct hs_registry *registry, const char *name,
                                       enum hs_device device)
{
    const struct hs_kernel *nearest = nearest_kernel(registry, name, device);
    return nearest && strcmp(nearest->name, name) == 0 ? nearest : NULL;
}

/* Whether another device has a kernel of the name that was asked for, and this one has not. */
static bool kernel_is_elsewhere(const struct hs_registry *registry,
                                const struct hs_problem *problem, enum hs_device device)
{
    if (!hs_kernel_is_named(problem))
        return false;
    const struct hs_kernel *found = exactly(registry, problem->solver.kernel, device);
    return found && found->device != device;
}

/* The error if no backend of the kernel that was asked for runs here. */
static enum hs_status cannot_be_had(const struct hs_registry *registry,
                                    const struct hs_problem *problem,
                                    const struct hs_kernel *kernel, struct hs_error *err)
{
    char whose[400];
    say_whose(registry, kernel, problem->solver.device, whose, sizeof whose);
    return hs_error_add(err, HS_DEVICE, "%s \"%s\": it is %s; \"auto\" takes one that can run here",
                        key_of(problem, HS_PLACE_KERNEL).text, kernel->name, whose);
}

/* The first backend that runs here and has the kernel asked for. */
static enum hs_status first_backend(const struct hs_registry *registry,
                                    const struct hs_problem *problem, const struct hs_backend **out,
                                    char *note, size_t size, struct hs_error *err)
{
    char why_not[512] = "";
    for (int n = 0; registry->backends[n] && !*out; n++) {
        const struct hs_backend *backend = registry->backends[n];
        if (kernel_is_elsewhere(registry, problem, backend->device))
            continue;
        struct hs_error reason = {0};
        if (backend->available(problem->solver.device, &reason) == HS_OK)
            *out = backend;
        else if (reason.text)
            append_line(why_not, sizeof why_not, "; ", reason.text);
        hs_error_release(&reason);
    }
    if (!*out && hs_kernel_is_named(problem)) {
        const struct hs_kernel *kernel = exactly(registry, problem->solver.kernel, HS_CPU);
        if (kernel)
            return cannot_be_had(registry, problem, kernel, err);
    }
    if (!*out)
        return hs_error_add(err, HS_DEVICE, "no backend can run here: %s", why_not);
    if (why_not[0])
        snprintf(note, size, "using the %s backend: %s", (*out)->name, why_not);
    return HS_OK;
}

void hs_wake(const struct hs_problem *problem)
{
    const struct hs_backend *first = NULL;
    for (int n = 0; hs_backends[n] && !first; n++)
        if (!kernel_is_elsewhere(&this_build, problem, hs_backends[n]->device) &&
            (!is_named(problem->solver.backend) ||
             strcmp(problem->solver.backend, hs_backends[n]->name) == 0))
            first = hs_backends[n];
    if (first)
        limits_here(first->device, problem->solver.device);
}

static void *wake(void *problem)
{
    hs_wake(problem);
    return NULL;
}

struct hs_waking hs_wake_begin(const struct hs_problem *problem)
{
    struct hs_waking waking;
    waking.started = hs_thread_start(&waking.thread, wake, (void *)problem) == 0;
    return waking;
}

void hs_wake_end(const struct hs_waking *waking)
{
    if (waking->started)
        pthread_join(waking->thread, NULL);
}

static enum hs_status choose_backend(const struct hs_registry *registry,
                                     const struct hs_problem *problem,
                                     const struct hs_backend **out, char *note, size_t size,
                                     struct hs_error *err)
{
    *out = NULL;
    if (size > 0)
        note[0] = '\0';
    return is_named(problem->solver.backend)
               ? named_backend(registry, problem, out, err)
               : first_backend(registry, problem, out, note, size, err);
}

/* The device on which a kernel's name is searched: the backend's, even if this build lacks it. */
static enum hs_device device_asked_for(const struct hs_problem *problem,
                                       const struct hs_backend *backend)
{
    if (backend)
        return backend->device;
    for (int device = 0; device < HS_DEVICES; device++)
        if (problem->solver.backend &&
            strcmp(problem->solver.backend, hs_device_name((enum hs_device)device)) == 0)
            return (enum hs_device)device;
    return HS_CPU;
}

/* Chooses the backend, and checks that the kernel named exists; reports both if both are wrong. */
static enum hs_status check_names(const struct hs_registry *registry,
                                  const struct hs_problem *problem,
                                  const struct hs_backend **backend, char *note, size_t size,
                                  struct hs_error *err)
{
    const struct hs_kernel *kernel;
    const enum hs_status st = choose_backend(registry, problem, backend, note, size, err);
    if (!hs_kernel_is_named(problem) || (st && exactly(registry, problem->solver.kernel, HS_CPU)))
        return st;
    const enum hs_device device = device_asked_for(problem, *backend);
    const enum hs_status named = named_kernel(registry, problem, device, &kernel, err);
    return st ? st : named;
}

enum hs_status hs_check_names(const struct hs_problem *problem, struct hs_error *err)
{
    const struct hs_backend *backend;
    return check_names(&this_build, problem, &backend, NULL, 0, err);
}

enum hs_status hs_choose_among(const struct hs_registry *registry, const struct hs_problem *problem,
                               const struct hs_backend **backend, const struct hs_kernel **kernel,
                               char *note, size_t size, struct hs_error *err)
{
    *kernel = NULL;
    HS_TRY(check_names(registry, problem, backend, note, size, err));
    return choose_kernel(registry, problem, (*backend)->device, kernel, err);
}

enum hs_status hs_choose(const struct hs_problem *problem, const struct hs_backend **backend,
                         const struct hs_kernel **kernel, char *note, size_t size,
                         struct hs_error *err)
{
    return hs_choose_among(&this_build, problem, backend, kernel, note, size, err);
}
