#include "engine/preference.h"

/*
 * Each row's comment says what it was measured by. `heatsolve tune CASE --retune` prints the rates
 * of all kernels beside this table's choice; `tests/gpu/run auto` holds the table to 0.95 of the
 * best over the cases of the benchmarks.
 */

static const struct hs_preference on_cpu[] = {
    /* wavefront against openmp on two cores of an AMD EPYC, 2026-11-21, a run each on a busy host:
     * 3D, radius 1, fields that stay in the cache: 1.7 and 1.6 at 64^3 in double and float, 1.15 at
     * 80^3 in double, 0.95 and 1.28 at 100^3 and 128^3 in float. From memory: 0.64 at 384^3 in
     * float, 0.76 at 128^3 and 256^3 in double; radius 2 and 3 0.83 and 0.74; 2D 0.63 (4096^2 in
     * float) to 1.16; 1D 1.0 and 0.7. A source that differs from point to point and in time is
     * swept once a call, which gains nothing. */
    {.kernel = "wavefront",
     .dims = 1u << 3,
     .radius = 1u << 1,
     .from = 32 * 32 * 32,
     .below = 1 << 20,
     .without = HS_NEEDS_SOURCE_FIELD},
    {.kernel = "wavefront",
     .dims = 1u << 3,
     .radius = 1u << 1,
     .from = 32 * 32 * 32,
     .below = 1 << 20,
     .without = HS_NEEDS_SOURCE_TIME},
    {.kernel = "wavefront",
     .dims = 1u << 3,
     .radius = 1u << 1,
     .precision = 1u << HS_FLOAT,
     .from = 1 << 20,
     .below = (1 << 21) + 1,
     .without = HS_NEEDS_SOURCE_FIELD},
    {.kernel = "wavefront",
     .dims = 1u << 3,
     .radius = 1u << 1,
     .precision = 1u << HS_FLOAT,
     .from = 1 << 20,
     .below = (1 << 21) + 1,
     .without = HS_NEEDS_SOURCE_TIME},
    {.kernel = "openmp"},
    {.kernel = NULL},
};

static const struct hs_preference on_cuda[] = {
    /* A source field that changes in time belongs to one sweep, so that there is nothing to fuse in
     * 1D, where no kernel takes a field for each. */
    {.kernel = "vector_march",
     .dims = 1u << 1,
     .with = HS_NEEDS_SOURCE_FIELD | HS_NEEDS_SOURCE_TIME},
    /* 12 to 13 times the device copy at 2^28 points on an H200, and a launch for 32 sweeps where
     * launches are what costs: 0.24 us a sweep of 16384 to 131072 points, a launch alone 2.5. */
    {.kernel = "fused_line_1d"},
    /* Grids that stay on the chip, on an H200, in us a sweep, fixed and robin walls: 1024^2 in
     * float 0.76 and 1.08 (fused_march_2d 4.6 with fixed ones), 64^3 in float 0.83 and 1.08
     * (basic 2.8), in double 1.31 and 1.85 (basic 3.1 and 5.4), 128^3 in float 2.39 and 3.04
     * (vector_march 5.6 with fixed ones). */
    {.kernel = "resident", .dims = 1u << 2, .precision = 1u << HS_FLOAT},
    {.kernel = "resident", .dims = 1u << 3, .below = 64 * 64 * 64 + 1},
    {.kernel = "resident",
     .dims = 1u << 3,
     .precision = 1u << HS_FLOAT,
     .below = 128 * 128 * 128 + 1},
    /* On an H200, times bulk_march with fixed walls, in float and double: 6.5 and 7.6 at 16384^2,
     * 3.7 and 5.6 at 4096^2; times collaborative_2d at 1024^2 in double 1.17. */
    {.kernel = "fused_march_2d", .dims = 1u << 2, .from = 1024 * 1024},
    /* The fused marches need more than a wave of blocks: on an H200 fused_march_3d gave 0.70 of
     * vector_march's rate at 128^3 in float, but 1.17 in double, and 2.0 and 2.1 at 256^3;
     * fused_fields_3d 1.9 at 512^3 in float (docs/benchmarks.md). */
    {.kernel = "fused_march_3d", .precision = 1u << HS_DOUBLE, .from = 128 * 128 * 128},
    {.kernel = "fused_march_3d", .from = 200 * 200 * 200},
    {.kernel = "fused_fields_3d", .from = 200 * 200 * 200},
    /* Radius 2, on an H200, shares of the copy with fixed walls: 1.47 and 1.43 at 512^3 (bulk_march
     * 0.98 in both), 1.39 to 1.44 with others in float, 1.38 at 384^3 and 1.14 at 256^3. */
    {.kernel = "fused_wide_3d", .from = 256 * 256 * 256},
    /* On an H200 bulk_march gave 1.3 times vector_march's rate at 8192^2 with radius 1 and 1.6
     * to 1.9 times with radius 3; at 2560^2 in float 1.05, and with radius 2 1.2 times; at 2048^2
     * 0.8 in float, 1.2 and 1.3 in double with radius 2 and 3. */
    {.kernel = "bulk_march", .dims = 1u << 2, .precision = 1u << HS_DOUBLE, .from = 2048 * 2048},
    {.kernel = "bulk_march", .dims = 1u << 2, .from = 2560 * 2560},
    /* What a grid that stays in the cache wants is many threads: on an H200 basic gave 1.5 times
     * vector_march's rate at 64^3 with fixed, robin and a source in float, 1.8 in double, 1.5 on
     * 97 x 65 x 17, and 0.7 at 128^3. */
    {.kernel = "basic", .dims = 1u << 3, .below = 96 * 96 * 96},
    /* collaborative_2d against vector_march there: 1.1 at 1024^2; in double also 1.04 at
     * 4096^2, 1.02 at 16384^2 and 1.25 with radius 2, but 0.8 in float. */
    {.kernel = "collaborative_2d", .dims = 1u << 2, .below = 2048 * 2048},
    {.kernel = "collaborative_2d",
     .dims = 1u << 2,
     .radius = 1u << 1 | 1u << 2,
     .precision = 1u << HS_DOUBLE},
    /* Blocks that have a multiprocessor to themselves want planes of many tiles: on an H200, at
     * 512^3 in float and double, 1.2 and 1.3 times vector_march's rate with radius 1, 1.4 and 1.5
     * with radius 2, 1.9 with radius 3; at 320^3 0.87 and 1.1, 1.2 and 1.1, 1.4 and 1.1; at 256^3
     * 0.84 and 1.05 with radius 1, 1.4 in double with radius 2, 1.03 and 1.6 with radius 3. */
    {.kernel = "bulk_march",
     .dims = 1u << 3,
     .precision = 1u << HS_DOUBLE,
     .from = 256 * 256 * 256},
    {.kernel = "bulk_march", .dims = 1u << 3, .radius = 1u << 2 | 1u << 3, .from = 320 * 320 * 320},
    {.kernel = "bulk_march", .dims = 1u << 3, .from = 400 * 400 * 400},
    {.kernel = "vector_march"},
    {.kernel = "basic"},
    {.kernel = NULL},
};

static const struct hs_preference *const tables[HS_DEVICES] = {
    [HS_CPU] = on_cpu,
    [HS_CUDA] = on_cuda,
};

const struct hs_preference *hs_preferences(enum hs_device device)
{
    return tables[device];
}

/* An empty set of bits stands for any. */
static bool among(unsigned bits, int value)
{
    return bits == 0 || (bits & (1u << value)) != 0;
}

bool hs_preference_holds(const struct hs_preference *row, const struct hs_problem *problem)
{
    const int64_t nodes = hs_grid_count(&problem->grid);
    const unsigned needs = hs_problem_needs(problem);
    return among(row->dims, problem->grid.dims) && among(row->radius, problem->radius) &&
           among(row->precision, (int)problem->precision) && nodes >= row->from &&
           (row->below == 0 || nodes < row->below) && (needs & row->with) == row->with &&
           (needs & row->without) == 0;
}
