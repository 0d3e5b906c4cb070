/* Checks recursion sweeps of a kernel: one against its plain sweep, several against single ones. */
#ifndef HS_TESTS_RECURSION_H
#define HS_TESTS_RECURSION_H

#include "core/kernel.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* X_n+1 from S X_n and X_n-1, as core/kernel.h defines it. */
static inline double recursion_next(enum hs_precision precision, double factor, double swept,
                                    double before)
{
    const float rounded = (float)swept;
    return precision == HS_FLOAT ? (double)fmaf((float)factor, rounded - (float)before, rounded)
                                 : fma(factor, swept - before, swept);
}

static inline bool recursion_in_box(const struct hs_sweep *sweep, int64_t element)
{
    const struct hs_layout *layout = &sweep->layout;
    int64_t rest = element - layout->origin, node[HS_AXES];
    for (int axis = HS_Z; axis >= HS_X; axis--) { /* gaps and ghosts count as outside */
        node[axis] = rest >= 0 ? rest / layout->pitch[axis] : -1;
        rest -= node[axis] * layout->pitch[axis];
        if (node[axis] < sweep->box.lo[axis] || node[axis] >= sweep->box.hi[axis])
            return false;
    }
    return true;
}

/* `swept`: the allocation that the plain sweep wrote. `over`: the result overwrites X_n-1. Nodes
 * outside the box keep their values, or get those of `in` where it may copy. */
static inline void hold_recursion(const struct hs_kernel *kernel, const struct hs_kernel_plan *plan,
                                  struct hs_sweep sweep, const void *swept, bool over,
                                  const char *what)
{
    const size_t size = hs_precision_size(sweep.precision),
                 skip = (size_t)sweep.layout.origin * size;
    const size_t bytes = ((size_t)sweep.layout.elements * size + 127) / 128 * 128 + 128;
    char *before = aligned_alloc(128, bytes), *out = aligned_alloc(128, bytes);
    assert_true(before && out);
    for (int64_t n = 0; n < sweep.layout.elements; n++) /* uneven, no two neighbours alike */
        hs_write(sweep.precision, before, n, sin((double)(n * 7919 % 104729)));
    memcpy(out, before, bytes);
    const double factor = 133.0 / 134.0;
    const struct hs_recursion recursion = {.before = (over ? out : before) + skip,
                                           .factor = &factor};
    const char *in = (const char *)sweep.in - skip;
    sweep.out = out + skip;
    sweep.recursion = &recursion;
    struct hs_error err = {0};
    if (kernel->sweep(plan, &sweep, &err) != HS_OK)
        fail_msg("%s, recursion: %s: %s", kernel->name, what, err.text);
    hs_error_release(&err);
    for (size_t n = 0; n < (size_t)sweep.layout.elements; n++) {
        const double was = hs_read(sweep.precision, before, (int64_t)n);
        const double is = hs_read(sweep.precision, out, (int64_t)n);
        if (recursion_in_box(&sweep, (int64_t)n)) {
            const double due = recursion_next(sweep.precision, factor,
                                              hs_read(sweep.precision, swept, (int64_t)n), was);
            if (is != due)
                fail_msg("%s, recursion%s: %s: element %lld is %.17g, not %.17g", kernel->name,
                         over ? " in place" : "", what, (long long)n, is, due);
        } else if (is != was &&
                   !(sweep.may_copy && memcmp(out + n * size, in + n * size, size) == 0)) {
            fail_msg("%s, recursion%s: %s: element %lld outside the box was written", kernel->name,
                     over ? " in place" : "", what, (long long)n);
        }
    }
    free(before);
    free(out);
}

/* Checks a call of `steps` sweeps of a recursion against as many calls of one sweep. Outside the
 * box and in ghosts, all fields have the values of `in`. */
static inline void hold_pass(const struct hs_kernel *kernel, const struct hs_kernel_plan *plan,
                             struct hs_sweep sweep, int steps, const char *what)
{
    enum { MOST = 16 };
    const size_t size = hs_precision_size(sweep.precision),
                 skip = (size_t)sweep.layout.origin * size;
    const size_t all = (size_t)sweep.layout.elements * size, bytes = (all + 127) / 128 * 128 + 128;
    const char *in = (const char *)sweep.in - skip;
    char *x[MOST + 4]; /* X_0 to X_steps, X_-1, and the two outputs of the pass */
    double factor[MOST];
    assert_true(steps <= MOST);
    for (int n = 0; n < steps + 4; n++) {
        x[n] = aligned_alloc(128, bytes);
        assert_non_null(x[n]);
        memcpy(x[n], in, all);
    }
    char *before = x[steps + 1], *out = x[steps + 2], *last_but_one = x[steps + 3];
    for (int64_t n = 0; n < sweep.layout.elements; n++)
        if (recursion_in_box(&sweep, n))
            hs_write(sweep.precision, before, n, sin((double)(n * 7919 % 104729)));
    struct hs_recursion recursion = {.factor = factor};
    sweep.recursion = &recursion;
    for (int n = 0; n < steps; n++) {
        factor[n] = (n + 1.0) / (n + 2.0);
        recursion.factor = factor + n;
        recursion.before = (n > 0 ? x[n - 1] : before) + skip;
        sweep.in = x[n] + skip;
        sweep.out = x[n + 1] + skip;
        assert_ok(kernel->sweep(plan, &sweep, &err));
    }
    recursion = (struct hs_recursion){before + skip, last_but_one + skip, factor};
    sweep.steps = steps;
    sweep.in = x[0] + skip;
    sweep.out = out + skip;
    assert_ok(kernel->sweep(plan, &sweep, &err));
    if (memcmp(out, x[steps], all))
        fail_msg("%s: %s: a pass of %d sweeps has other bits", kernel->name, what, steps);
    if (memcmp(last_but_one, x[steps - 1], all))
        fail_msg("%s: %s: so has the last but one of a pass of %d", kernel->name, what, steps);
    for (int n = 0; n < steps + 4; n++)
        free(x[n]);
}

#endif
