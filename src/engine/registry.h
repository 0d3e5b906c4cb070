/* The kernels, backends and methods of this build, found by their file names. */
#ifndef HS_ENGINE_REGISTRY_H
#define HS_ENGINE_REGISTRY_H

#include "core/backend.h"
#include "core/kernel.h"
#include "core/method.h"
#include "core/problem.h"

#include <pthread.h>

/* Why a program lacks the CUDA kernels, and how to get one that has them. */
#define HS_NOT_BUILT "not built; make CUDA_ARCH=90 (or all) builds it, with CUDA's nvcc"

/* All kernels of the source tree, CPU first, including those that this build lacks (core/kernel.h);
 * ends with NULL. */
extern const struct hs_kernel *const hs_kernels[];

extern const struct hs_backend *const hs_backends[];           /* ends with NULL */
const struct hs_backend *hs_backend_of(enum hs_device device); /* NULL: not in this build */

extern const struct hs_method *const hs_methods[];         /* the default first; ends with NULL */
const struct hs_method *hs_method_named(const char *name); /* NULL: none, or without a name */

/* Finds the kernel of that name for that device. Errors: HS_BAD_INPUT, with the nearest name of any
 * device and all known names of this one. */
enum hs_status hs_kernel_find(const char *name, enum hs_device device, const struct hs_kernel **out,
                              struct hs_error *err);

/*
 * Resolves solver.backend and solver.kernel ("auto" included) for this problem on this machine.
 * `note` (of `size` bytes) gets one line if a choice needs a remark (no GPU: using the CPU).
 * Errors: HS_DEVICE if the named backend, or the named kernel's backend, is not built or cannot run
 * here; HS_BAD_INPUT if no kernel has the name, or the kernel cannot do the problem's dims, radius
 * or precision.
 */
enum hs_status hs_choose(const struct hs_problem *problem, const struct hs_backend **backend,
                         const struct hs_kernel **kernel, char *note, size_t size,
                         struct hs_error *err);

/* The kernel that "auto" takes, of the same device as `kernel`, for a method whose steps are many
 * sweeps. If nothing changes in time, one with calls of a recursion; failing that, one that makes
 * one sweep per call; `kernel` itself if every suitable one fuses several. */
const struct hs_kernel *hs_kernel_for_stages(const struct hs_problem *problem,
                                             const struct hs_kernel *kernel);

/* Queries the backend that hs_choose will ask first, so that finding its device, which takes some
 * tenths of a second, is done by then; may run in another thread meanwhile. */
void hs_wake(const struct hs_problem *problem);

/* The same in a thread of its own, until the end is called. */
struct hs_waking {
    pthread_t thread;
    bool started;
};
struct hs_waking hs_wake_begin(const struct hs_problem *problem);
void hs_wake_end(const struct hs_waking *waking);

/* The part of hs_choose that needs only solver.backend and solver.kernel: whether such names exist.
 * For a config that has other errors. */
enum hs_status hs_check_names(const struct hs_problem *problem, struct hs_error *err);

/* The kernel's plan for the problem on the device that it would run on here. False if the kernel
 * cannot do the problem or is not built: `reason` (of `size` bytes; NULL and 0: not wanted) says
 * why. */
bool hs_kernel_plan_here(const struct hs_kernel *kernel, const struct hs_problem *problem,
                         struct hs_kernel_plan *out, char *reason, size_t size);
bool hs_kernel_suits(const struct hs_kernel *kernel, const struct hs_problem *problem, char *reason,
                     size_t size);
/* Most sweeps per call. */
int hs_kernel_steps_for(const struct hs_kernel *kernel, const struct hs_problem *problem);

/* Whether solver.kernel is a kernel's name, not "auto". */
bool hs_kernel_is_named(const struct hs_problem *problem);

/* The tables to choose from; both end with NULL. hs_choose uses this build's. */
struct hs_registry {
    const struct hs_backend *const *backends; /* best first */
    const struct hs_kernel *const *kernels;
};
enum hs_status hs_choose_among(const struct hs_registry *registry, const struct hs_problem *problem,
                               const struct hs_backend **backend, const struct hs_kernel **kernel,
                               char *note, size_t size, struct hs_error *err);

#endif
