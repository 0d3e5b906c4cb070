#include "core/kernel.h"

#include "core/needs.h"
#include "core/problem.h"

#include <stdio.h>

const char *hs_device_name(enum hs_device device)
{
    static const char *const names[HS_DEVICES] = {"cpu", "cuda"};
    return names[device];
}

/* "1, 2, 3" from a set of bits */
static void list_bits(unsigned bits, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < 8 && used < size; i++)
        if (bits & (1u << i)) {
            const int n = snprintf(out + used, size - used, "%s%d", used ? ", " : "", i);
            used += n > 0 ? (size_t)n : 0;
        }
}

int hs_kernel_steps(const struct hs_kernel *kernel, int dims, int radius,
                    enum hs_precision precision)
{
    return kernel->fuses ? kernel->fuses(dims, radius, precision) : kernel->steps;
}

int hs_kernel_steps_for(const struct hs_kernel *kernel, const struct hs_problem *problem)
{
    return kernel->steps_for
               ? kernel->steps_for(problem)
               : hs_kernel_steps(kernel, problem->grid.dims, problem->radius, problem->precision);
}

int hs_kernel_takes(const struct hs_kernel *kernel, enum hs_precision precision, int most,
                    int64_t left)
{
    const int sweeps = left < most ? (int)left : most;
    return kernel->takes ? kernel->takes(precision, sweeps) : sweeps;
}

bool hs_kernel_can(const struct hs_kernel *kernel, int dims, int radius,
                   enum hs_precision precision, char *reason, size_t size)
{
    char able[64];
    if (!(kernel->dims & (1u << dims))) {
        list_bits(kernel->dims, able, sizeof able);
        snprintf(reason, size, "%s does %s dimensions, not %d", kernel->name, able, dims);
        return false;
    }
    if (!(kernel->radius & (1u << radius))) {
        list_bits(kernel->radius, able, sizeof able);
        snprintf(reason, size, "%s does radius %s, not %d", kernel->name, able, radius);
        return false;
    }
    if (!(kernel->precision & (1u << precision))) {
        snprintf(reason, size, "%s does not do %s precision", kernel->name,
                 hs_precision_name(precision));
        return false;
    }
    return true;
}

bool hs_kernel_suits(const struct hs_kernel *kernel, const struct hs_problem *problem, char *reason,
                     size_t size)
{
    if (!hs_kernel_can(kernel, problem->grid.dims, problem->radius, problem->precision, reason,
                       size))
        return false;
    if (kernel->uniform &&
        (hs_problem_needs(problem) & (HS_NEEDS_SOURCE_FIELD | HS_NEEDS_WALL_FIELD)) != 0) {
        snprintf(reason, size, "%s needs sources and boundary values that are uniform in space",
                 kernel->name);
        return false;
    }
    return !kernel->suits || kernel->suits(problem, reason, size);
}
