#include "engine/heuristic.h"

#include "core/problem.h"

/*
 * The measurements behind the rows: docs/performance/heuristic.md. `heatsolve tune CASE --retune`
 * prints the rates of all kernels beside this table's choice; `tests/gpu/run auto` requires that
 * the choice reaches 0.95 of the best rate over the cases of the benchmarks.
 */

static const struct hs_heuristic on_cpu[] = {
    /* For runs too short for a trial (engine/measure/trial.h). Fields in memory: wavefront, whose
     * several sweeps per pass need less memory bandwidth. Fields in the cache: openmp, except where
     * a call costs more than its sweep. A source that differs from point to point and in time
     * belongs to one sweep, so nothing can be fused. */
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
    /* Bodies. With a source field, levels are swept one by one. */
    {.kernel = "conduction_wavefront",
     .with = HS_CONDUCTION,
     .from = 1 << 20,
     .without = HS_SOURCE_FIELD},
    {.kernel = "openmp"},
    {.kernel = NULL},
};

static const struct hs_heuristic on_cuda[] = {
    /* Bodies. Smaller ones were not measured: a trial decides, if the run is long enough. */
    {.kernel = "conduction_fused", .with = HS_BYTES, .from = 1 << 20},
    {.kernel = "conduction_fused", .with = HS_SHORTS, .from = 1 << 20},
    {.kernel = "conduction_bulk", .with = HS_BYTES, .from = 1 << 20},
    {.kernel = "conduction_march", .with = HS_CONDUCTION, .from = 1 << 20},
    {.kernel = "conduction_basic"},
    /* A source field that changes in time belongs to one sweep, so nothing can be fused in 1D,
     * where no kernel takes one field per sweep. */
    {.kernel = "vector_march", .only = HS_1D, .with = HS_SOURCE_FIELD | HS_SOURCE_TIME},
    /* One launch for 32 sweeps, where launches dominate the cost. */
    {.kernel = "fused_line_1d"},
    /* Grids that stay on the chip. */
    {.kernel = "resident"},
    {.kernel = "fused_march_2d", .only = HS_2D, .from = 1024 * 1024},
    /* The fused marches need enough blocks, and more if the source or the walls are fields. */
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
    {.kernel = "fused_fields_3d", .from = 400 * 400 * 400},
    {.kernel = "fused_radius2_3d", .from = 160 * 160 * 160},
    {.kernel = "bulk_march", .only = HS_2D | HS_IN_DOUBLE, .from = 2048 * 2048},
    {.kernel = "bulk_march", .only = HS_2D | HS_RADIUS_1, .from = 2048 * 2048},
    {.kernel = "bulk_march", .only = HS_2D, .from = 2560 * 2560},
    /* A grid that stays in the cache needs many threads. */
    {.kernel = "basic", .only = HS_3D, .below = 96 * 96 * 96},
    {.kernel = "basic", .only = HS_2D, .below = 640 * 640},
    {.kernel = "basic", .only = HS_2D | HS_RADIUS_1 | HS_IN_DOUBLE, .below = 1024 * 1024 + 1},
    {.kernel = "collaborative_2d", .only = HS_2D, .below = 1024 * 1024 + 1},
    /* Blocks that have a multiprocessor to themselves need planes of many tiles. */
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

/* Whether the row matches in one kind of feature; a row that names none of a kind allows all. */
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
