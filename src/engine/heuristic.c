#include "engine/heuristic.h"

#include "core/problem.h"

/*
 * On a GPU each row's comment says what it was measured by. `heatsolve tune CASE --retune` prints
 * the rates of all kernels beside this table's choice; `tests/gpu/run auto` holds the table to 0.95
 * of the best over the cases of the benchmarks.
 */

static const struct hs_heuristic on_cpu[] = {
    /* Of a run that is too short for a trial (engine/trial.h). Fields from memory: wavefront, whose
     * several sweeps in one pass need less of it; in the cache: openmp, but where a call costs more
     * than its sweep. A source that differs from point to point and in time belongs to one sweep,
     * so that there is nothing to fuse. Measured: docs/performance/two-cores.md. */
    {.kernel = "wavefront",
     .only = HS_3D | HS_RADIUS_1,
     .from = 1 << 20,
     .without = HS_SOURCE_FIELD},
    {.kernel = "wavefront",
     .only = HS_3D | HS_RADIUS_1,
     .from = 1 << 20,
     .without = HS_SOURCE_TIME},
    {.kernel = "wavefront", .only = HS_1D, .below = 4096, .without = HS_SOURCE_FIELD},
    {.kernel = "wavefront", .only = HS_1D, .below = 4096, .without = HS_SOURCE_TIME},
    /* Bodies: on two cores, busy ones, 1.2 to 2.0 times openmp's rate at 128^3 and 250^3 in float
     * and double and 1.6 at 500 x 2000; 0.6 at 64^3. With a source field levels go one by one. */
    {.kernel = "conduction_wavefront",
     .with = HS_CONDUCTION,
     .from = 1 << 20,
     .without = HS_SOURCE_FIELD},
    {.kernel = "openmp"},
    {.kernel = NULL},
};

static const struct hs_heuristic on_cuda[] = {
    /* Bodies, on an H200 at 512^3 in float and double, times conduction_march: conduction_fused
     * 2.06 and 2.35 with numbers of one byte, 1.58 and 2.13 with two (511 rows; 1.36 and 1.55 with
     * 2747); conduction_bulk 1.31 and 1.39, and 1.27 and 1.31 (0.86 and 0.93). conduction_basic
     * 0.44 and 0.74. Smaller grids were not measured: there a trial tells, if the run is long
     * enough. */
    {.kernel = "conduction_fused", .with = HS_BYTES, .from = 1 << 20},
    {.kernel = "conduction_fused", .with = HS_SHORTS, .from = 1 << 20},
    {.kernel = "conduction_bulk", .with = HS_BYTES, .from = 1 << 20},
    {.kernel = "conduction_march", .with = HS_CONDUCTION, .from = 1 << 20},
    {.kernel = "conduction_basic"},
    /* A source field that changes in time belongs to one sweep, so that there is nothing to fuse in
     * 1D, where no kernel takes a field for each. */
    {.kernel = "vector_march", .only = HS_1D, .with = HS_SOURCE_FIELD | HS_SOURCE_TIME},
    /* 12 to 13 times the device copy at 2^28 points on an H200, and a launch for 32 sweeps where
     * launches are what costs: 0.24 us a sweep of 16384 to 131072 points, a launch alone 2.5. */
    {.kernel = "fused_line_1d"},
    /* Grids that stay on the chip, on an H200, in us a sweep, fixed and robin walls: 1024^2 in
     * float 0.70 and 1.08, in double 1.62 and 2.32 (fused_march_2d 4.1 with fixed ones), 1500^2 in
     * float with fixed ones 1.05 (5.3), in double 64^2 0.46 and 0.64 (the next best 1.33 and 2.89),
     * 256^2 0.45 and 0.64 (1.59 and 3.43); 64^3 in float 0.79 and 1.08 (basic 2.8), in double 1.31
     * and 1.85 (basic 3.1 and 5.4), 80^3 and 96^3 in double with fixed ones 2.27 (basic 4.43)
     * and 3.11 (fused_march_3d 5.35), 128^3 in float 2.16 and 2.8 (vector_march 5.6 with fixed
     * ones). With a source field and robin walls in float 64^3 1.10, 1024^2 1.12, 128^3 2.99
     * (vector_march 10.0), 96^3 in float and double 2.56 and 4.17 (fused_fields_3d 7.7 in double),
     * 1024^2 in double 2.44 (basic 8.6); where what the walls are given differs from point to point
     * 1024^2 in double 4.21 (collaborative_2d 7.6). */
    {.kernel = "resident"},
    /* On an H200, times bulk_march with fixed walls, in float and double: 7.0 and 8.4 at 16384^2,
     * 4.1 and 7.0 at 4096^2; times collaborative_2d at 1024^2 in double 1.47. */
    {.kernel = "fused_march_2d", .only = HS_2D, .from = 1024 * 1024},
    /* The fused marches need enough blocks. On an H200, fixed and robin walls, times the best
     * single sweep: fused_march_3d in double 1.22 and 1.45 at 96^3 (0.84 and 1.08 at 80^3), in
     * float 1.07 at 120^3 with fixed ones, 1.84 and 1.82 at 140^3, 1.8 and 2.0 at 180^3; with a
     * source field fused_fields_3d 0.83 and 1.29 in float at 96^3, 0.98 and 1.41 in double; with
     * fixed ones 0.66 and 1.23 at 128^3 in float and double, 1.9 and 2.0 at 160^3; where that
     * changes with time too 1.46 and 1.56 at 96^3, 3.5 and 2.8 at 160^3. */
    {.kernel = "fused_march_3d", .only = HS_IN_DOUBLE, .from = 96 * 96 * 96},
    {.kernel = "fused_march_3d", .from = 120 * 120 * 120},
    {.kernel = "fused_fields_3d",
     .with = HS_SOURCE_FIELD | HS_SOURCE_TIME,
     .without = HS_WALL_FIELD,
     .from = 96 * 96 * 96},
    {.kernel = "fused_fields_3d",
     .with = HS_WALL_AFFINE,
     .without = HS_WALL_FIELD,
     .from = 96 * 96 * 96},
    {.kernel = "fused_fields_3d",
     .only = HS_IN_DOUBLE,
     .without = HS_WALL_FIELD,
     .from = 128 * 128 * 128},
    {.kernel = "fused_fields_3d", .without = HS_WALL_FIELD, .from = 144 * 144 * 144},
    /* Where walls differ from point to point 0.36 and 0.48 at 120^3, 0.58 and 0.59 at 256^3, 0.91
     * and 1.04 at 384^3, 1.07 and 1.21 at 512^3. */
    {.kernel = "fused_fields_3d", .from = 400 * 400 * 400},
    /* Radius 2, on an H200, fixed walls, times the best single sweep in float and double: 0.58 and
     * 0.71 at 128^3, 1.30 and 1.16 at 160^3, 1.8 and 1.1 at 200^3, 1.6 and 1.08 at 256^3. */
    {.kernel = "fused_radius2_3d", .from = 160 * 160 * 160},
    /* On an H200 bulk_march gave 1.3 times vector_march's rate at 8192^2 with radius 1 and 1.6
     * to 1.9 times with radius 3; at 2560^2 in float 1.05, and with radius 2 1.2 times; at 2048^2
     * 1.09 in float with a source field, 1.2 and 1.3 in double with radius 2 and 3. */
    {.kernel = "bulk_march", .only = HS_2D | HS_IN_DOUBLE, .from = 2048 * 2048},
    {.kernel = "bulk_march", .only = HS_2D | HS_RADIUS_1, .from = 2048 * 2048},
    {.kernel = "bulk_march", .only = HS_2D, .from = 2560 * 2560},
    /* What a grid that stays in the cache wants is many threads: on an H200 basic gave 1.5 times
     * vector_march's rate at 64^3 with fixed, robin and a source in float, 1.8 in double, 1.5 on
     * 97 x 65 x 17, and 0.7 at 128^3. In 2D 1.25 times collaborative_2d's at 512^2, 0.98 at 700^2,
     * 1.05 at 1024^2 in double with a source field. */
    {.kernel = "basic", .only = HS_3D, .below = 96 * 96 * 96},
    {.kernel = "basic", .only = HS_2D, .below = 640 * 640},
    {.kernel = "basic", .only = HS_2D | HS_RADIUS_1 | HS_IN_DOUBLE, .below = 1024 * 1024 + 1},
    /* collaborative_2d against vector_march there: 1.1 at 1024^2; with radius 2 1.24 and 1.27 at
     * 800^2, with radius 3 1.09 and 1.06 at 1000^2; at 1500^2 0.78 with radius 2, 0.79 and 0.85
     * with radius 3; at 2048^2 with a source field 0.65 and 1.00. */
    {.kernel = "collaborative_2d", .only = HS_2D, .below = 1024 * 1024 + 1},
    /* Blocks that have a multiprocessor to themselves want planes of many tiles: on an H200, at
     * 512^3 in float and double, 1.2 and 1.3 times vector_march's rate with radius 1, 1.4 and 1.5
     * with radius 2, 1.9 with radius 3; at 320^3 0.87 and 1.1, 1.2 and 1.1, 1.4 and 1.1; at 256^3
     * in float 0.84, 0.98 and 1.03, at 384^3 with radius 1 1.14. At 200^3 with radius 3 1.09
     * and 1.63; in double 1.27 at 144^3 with radius 1 and a source field, 1.31 and 1.18 at 160^3
     * with radius 2 and 3. */
    {.kernel = "bulk_march", .only = HS_3D | HS_RADIUS_3, .from = 200 * 200 * 200},
    {.kernel = "bulk_march", .only = HS_3D | HS_IN_DOUBLE, .from = 144 * 144 * 144},
    {.kernel = "bulk_march", .only = HS_3D | HS_RADIUS_2, .from = 320 * 320 * 320},
    {.kernel = "bulk_march", .only = HS_3D, .from = 384 * 384 * 384},
    {.kernel = "vector_march"},
    {.kernel = "basic"},
    {.kernel = NULL},
};

static const struct hs_heuristic *const tables[HS_DEVICES] = {
    [HS_CPU] = on_cpu,
    [HS_CUDA] = on_cuda,
};

const struct hs_heuristic *hs_heuristics(enum hs_device device)
{
    return tables[device];
}

/* A kind of feature of which the row names none may be any. */
static bool among(hs_features only, hs_features kind, hs_features asked)
{
    return !(only & kind) || (only & kind & asked);
}

bool hs_heuristic_holds(const struct hs_heuristic *row, const struct hs_problem *problem)
{
    const int64_t nodes = hs_grid_count(&problem->grid);
    const hs_features asked = hs_problem_features(problem);
    return among(row->only, HS_ALL_DIMS, asked) && among(row->only, HS_ALL_RADII, asked) &&
           among(row->only, HS_ALL_PRECISIONS, asked) && nodes >= row->from &&
           (row->below == 0 || nodes < row->below) && (asked & row->with) == row->with &&
           (asked & row->without) == 0;
}
