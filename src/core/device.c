#include "core/device.h"
#include "core/round.h"

#include <strings.h>

/* Limits by compute capability: threads, blocks, registers, shared memory. */
#define SM75                                                                                       \
    .capability = {7, 5}, .cooperative = 1, .threads = 1024, .blocks = 16, .registers = 65536,     \
    .shared_bytes = 65536, .shared_bytes_per_block = 65536
#define SM80                                                                                       \
    .capability = {8, 0}, .cooperative = 1, .threads = 2048, .blocks = 32, .registers = 65536,     \
    .shared_bytes = 167936, .shared_bytes_per_block = 166912, .shared_bytes_reserved = 1024
#define SM86                                                                                       \
    .capability = {8, 6}, .cooperative = 1, .threads = 1536, .blocks = 16, .registers = 65536,     \
    .shared_bytes = 102400, .shared_bytes_per_block = 101376, .shared_bytes_reserved = 1024
#define SM89                                                                                       \
    .capability = {8, 9}, .cooperative = 1, .threads = 1536, .blocks = 24, .registers = 65536,     \
    .shared_bytes = 102400, .shared_bytes_per_block = 101376, .shared_bytes_reserved = 1024
#define SM90                                                                                       \
    .capability = {9, 0}, .cooperative = 1, .threads = 2048, .blocks = 32, .registers = 65536,     \
    .shared_bytes = 233472, .shared_bytes_per_block = 232448, .shared_bytes_reserved = 1024

const struct hs_device_limits hs_device_table[] = {
    {"T4", SM75, .multiprocessors = 40, .bandwidth = 320e9, .flops = {8.1e12, 0.253e12}},
    {"A100-40GB", SM80, .multiprocessors = 108, .bandwidth = 1555e9, .flops = {19.5e12, 9.7e12}},
    {"A100", SM80, .multiprocessors = 108, .bandwidth = 2039e9, .flops = {19.5e12, 9.7e12}},
    {"RTX 3090", SM86, .multiprocessors = 82, .bandwidth = 936e9, .flops = {35.6e12, 0.556e12}},
    {"L4", SM89, .multiprocessors = 58, .bandwidth = 300e9, .flops = {30.3e12, 0.473e12}},
    {"L40S", SM89, .multiprocessors = 142, .bandwidth = 864e9, .flops = {91.6e12, 1.43e12}},
    {"RTX 4090", SM89, .multiprocessors = 128, .bandwidth = 1008e9, .flops = {82.6e12, 1.29e12}},
    {"H100-PCIe", SM90, .multiprocessors = 114, .bandwidth = 2000e9, .flops = {51.2e12, 25.6e12}},
    {"H100", SM90, .multiprocessors = 132, .bandwidth = 3350e9, .flops = {66.9e12, 33.5e12}},
    {"H200", SM90, .multiprocessors = 132, .bandwidth = 4800e9, .flops = {66.9e12, 33.5e12}},
    {"", .multiprocessors = 0},
};

const struct hs_device_limits *hs_device_find(const char *name)
{
    for (const struct hs_device_limits *device = hs_device_table; device->name[0]; device++)
        if (strcasecmp(device->name, name) == 0)
            return device;
    return NULL;
}

/* Applies a bound of `most` blocks if it is the tightest so far. */
static void bound_by(struct hs_occupancy *occupancy, int most, const char *what)
{
    if (most < occupancy->blocks) {
        occupancy->blocks = most;
        occupancy->bound = what;
    }
}

struct hs_occupancy hs_device_occupancy(const struct hs_device_limits *device,
                                        const struct hs_geometry *geometry, int registers)
{
    enum { WARP = 32, REGISTER_UNIT = 8, SHARED_UNIT = 128 };
    const int *t = geometry->threads;
    const int warps = (int)hs_divide_up((int64_t)t[HS_X] * t[HS_Y] * t[HS_Z], WARP);
    struct hs_occupancy out = {.blocks = device->blocks, .bound = "blocks"};
    bound_by(&out, device->threads / (warps * WARP), "threads");
    if (registers > 0) {
        /* registers are allocated per warp, in units of 8 per thread */
        const int each = (int)hs_round_up(registers, REGISTER_UNIT);
        bound_by(&out, device->registers / (each * WARP) / warps, "registers");
    }
    if (geometry->shared_bytes > device->shared_bytes_per_block) {
        bound_by(&out, 0, "shared memory of a block");
    } else if (geometry->shared_bytes > 0) {
        const int64_t share =
            hs_round_up(geometry->shared_bytes + device->shared_bytes_reserved, SHARED_UNIT);
        bound_by(&out, (int)(device->shared_bytes / share), "shared memory");
    }
    out.threads = out.blocks * warps * WARP;
    out.share = (double)out.threads / device->threads;
    return out;
}

double hs_device_roofline(const struct hs_device_limits *device, const struct hs_geometry *geometry,
                          enum hs_precision precision)
{
    const double points = (double)geometry->points_updated;
    const double moving = 2.0 * points * (double)hs_precision_size(precision) / device->bandwidth;
    const double counting = points * geometry->flops_per_point / device->flops[precision];
    return moving > counting ? moving : counting;
}
