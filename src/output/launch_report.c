#include "output/launch_report.h"

#include "engine/registry.h"

/* Whether the number of blocks differs from the number of tiles. */
static bool shared(const struct hs_geometry *g)
{
    return g->launched != g->blocks[HS_X] * g->blocks[HS_Y] * g->blocks[HS_Z];
}

static void print_extent(const char *what, const int extent[HS_AXES])
{
    printf("%-20s %d x %d x %d\n", what, extent[HS_X], extent[HS_Y], extent[HS_Z]);
}

static void print_device(const struct hs_launch *launch)
{
    const struct hs_device_limits *d = launch->device;
    const struct hs_geometry *g = launch->geometry;
    const enum hs_precision precision = launch->of->precision;
    const struct hs_occupancy o = hs_device_occupancy(d, g, launch->registers);
    const double time = hs_device_roofline(d, g, precision);
    const int64_t words = (g->points_loaded + g->points_written) * g->launched;
    const double uncached = (double)words * (double)hs_precision_size(precision) / d->bandwidth;
    printf("\non %s (sm_%d%d, %d multiprocessors, %.0f GB/s)\n", d->name, d->capability[0],
           d->capability[1], d->multiprocessors, d->bandwidth / 1e9);
    if (o.blocks == 0)
        printf("%-20s none: a block does not fit (%s)\n", "occupancy", o.bound);
    else
        printf("%-20s %d blocks, %d threads a multiprocessor: %.0f%% (bound by %s%s)\n",
               "occupancy", o.blocks, o.threads, 100.0 * o.share, o.bound,
               launch->registers ? "" : "; registers not counted, see --registers");
    printf("%-20s %.4g ms, %.4g GCell/s (each point read once and written once)\n", "roofline",
           1e3 * time, (double)g->points_updated * launch->of->steps / time / 1e9);
    printf("%-20s %.4g ms (all that the blocks load, none of it from a cache)\n", "without caches",
           1e3 * uncached);
}

void hs_launch_print(const struct hs_launch *launch)
{
    const struct hs_geometry *g = launch->geometry;
    const struct hs_case *of = launch->of;
    printf("%s, %dD, radius %d, %s", launch->kernel->name, of->dims, of->radius,
           hs_precision_name(of->precision));
    if (of->steps > 1)
        printf(", %d sweeps a launch", of->steps);
    printf("%s\n", launch->kernel->sweep ? "" : " (" HS_NOT_BUILT ")");
    printf("%-20s %lld\n", "output points", (long long)g->points_updated);
    printf("%-20s %lld (%lld x %lld x %lld%s)\n", "blocks", (long long)g->launched,
           (long long)g->blocks[HS_X], (long long)g->blocks[HS_Y], (long long)g->blocks[HS_Z],
           shared(g) ? " tiles, shared" : "");
    print_extent("threads a block", g->threads);
    if (g->input_tile[HS_X])
        print_extent("input tile", g->input_tile);
    print_extent("output tile", g->output_tile);
    const char *const mean = shared(g) ? ", in the mean" : "";
    printf("%-20s %lld a block%s\n", "points loaded", (long long)g->points_loaded, mean);
    printf("%-20s %lld a block%s\n", "points written", (long long)g->points_written, mean);
    printf("%-20s %.1f%% of the loads\n", "halo", 100.0 * hs_geometry_halo_share(g));
    printf("%-20s %lld bytes a block\n", "shared memory", (long long)g->shared_bytes);
    printf("%-20s %.0f a point, %.4g in all\n", "operations", g->flops_per_point,
           g->flops_per_point * (double)g->points_updated);
    printf("%-20s %.2f OP/B\n", "intensity", hs_geometry_intensity(g, of->precision));
    if (launch->recursion > 1)
        printf("%-20s up to %d of rkl2 in a launch: two fields read, two written\n", "stages",
               launch->recursion);
    else if (launch->recursion == 1)
        printf("%-20s one of rkl2 in a launch: two fields read, one of them written\n", "stages");
    else
        printf("%-20s of rkl2: a sweep, and a launch for the sum\n", "stages");
    if (launch->device)
        print_device(launch);
}

void hs_launch_print_heading(void)
{
    printf("%-18s %10s %12s %10s %10s %7s %8s %6s\n", "kernel", "blocks", "threads", "loaded",
           "written", "halo", "shared", "OP/B");
}

void hs_launch_print_line(const struct hs_launch *launch)
{
    const struct hs_geometry *g = launch->geometry;
    char threads[32];
    snprintf(threads, sizeof threads, "%dx%dx%d", g->threads[HS_X], g->threads[HS_Y],
             g->threads[HS_Z]);
    printf("%-18s %10lld %12s %10lld %10lld %6.1f%% %8lld %6.2f\n", launch->kernel->name,
           (long long)g->launched, threads, (long long)g->points_loaded,
           (long long)g->points_written, 100.0 * hs_geometry_halo_share(g),
           (long long)g->shared_bytes, hs_geometry_intensity(g, launch->of->precision));
}

static void json_extent(struct hs_json *json, const char *key, const int extent[HS_AXES])
{
    const int64_t wide[HS_AXES] = {extent[HS_X], extent[HS_Y], extent[HS_Z]};
    hs_json_integers(json, key, wide, HS_AXES);
}

void hs_launch_json(struct hs_json *json, const struct hs_launch *launch)
{
    const struct hs_geometry *g = launch->geometry;
    const struct hs_case *of = launch->of;
    const enum hs_precision precision = of->precision;
    hs_json_open(json, NULL);
    hs_json_text(json, "kernel", launch->kernel->name);
    hs_json_flag(json, "built", launch->kernel->sweep != NULL);
    hs_json_integer(json, "dims", of->dims);
    hs_json_integer(json, "radius", of->radius);
    hs_json_text(json, "precision", hs_precision_name(precision));
    hs_json_integer(json, "steps", of->steps);
    hs_json_integer(json, "output_points", g->points_updated);
    hs_json_integer(json, "blocks", g->launched);
    hs_json_integers(json, "block_grid", g->blocks, HS_AXES);
    hs_json_flag(json, "shared", shared(g));
    json_extent(json, "threads", g->threads);
    json_extent(json, "input_tile", g->input_tile);
    json_extent(json, "output_tile", g->output_tile);
    hs_json_integer(json, "points_loaded", g->points_loaded);
    hs_json_integer(json, "points_written", g->points_written);
    hs_json_number(json, "halo_share", hs_geometry_halo_share(g));
    hs_json_integer(json, "shared_bytes", g->shared_bytes);
    hs_json_number(json, "flops_per_point", g->flops_per_point);
    hs_json_number(json, "intensity", hs_geometry_intensity(g, precision));
    hs_json_integer(json, "recursion", launch->recursion);
    if (launch->device) {
        const struct hs_occupancy o = hs_device_occupancy(launch->device, g, launch->registers);
        hs_json_text(json, "device", launch->device->name);
        hs_json_integer(json, "occupancy_blocks", o.blocks);
        hs_json_number(json, "occupancy", o.share);
        hs_json_text(json, "occupancy_bound", o.bound);
        hs_json_number(json, "roofline_seconds", hs_device_roofline(launch->device, g, precision));
    }
    hs_json_close(json);
}
