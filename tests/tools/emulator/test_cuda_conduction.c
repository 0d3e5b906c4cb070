/*
 * A CUDA conduction kernel without a GPU: its file, compiled for the emulator, must give the bits
 * of the definition in core/network.h, as written out in kernels/network_model.h. Networks have
 * random rows in all forms, walls and periodic axes, sinks, sources, held and prescribed nodes.
 * Whatever a kernel need not read is NaN, or the number of a row of NaNs.
 */
#include "core/device.h"
#include "core/kernel.h"
#include "kernels/network_model.h"
#include "launched.h"
#include "recursion.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct hs_kernel hs_kernel_emulated; /* the linker's name for this program's kernel */
static const struct hs_kernel *const kernel = &hs_kernel_emulated;

enum { ORDERS = 3, STEPS = 8 };
void emulator_set_order_c(int order);
const char *emulator_complaint_c(void);

/* On an H200, with threads in one of the orders. */
static void run(const struct network_case *c, const struct hs_box *box, int order)
{
    char what[400], reason[256];
    snprintf(what, sizeof what, "%s, %s, order %d", kernel->name, network_name(c), order);
    struct hs_kernel_plan plan;
    const struct hs_case of = {
        .layout = network_layout(c, NETWORK_GPU_LINE), .box = *box, .steps = c->steps};
    if (!network_plan(kernel, c, of, hs_device_find("H200"), &plan, reason, sizeof reason))
        fail_msg("%s: %s", what, reason);
    struct network_model m;
    struct network_fields f;
    network_model_init(&m, c);
    network_fields_init(&f, &m, NETWORK_GPU_LINE, plan.shift);
    f.walled = f.wrapped = !(kernel->features & HS_APPLIES_WALLS);
    network_fields_begin(&m, &f, 0);
    const struct hs_operator op = {.network = &f.view};
    const size_t size = hs_precision_size(c->precision);
    const double value[STEPS] = {0};
    const void *const field = network_origin(&f, f.source, size);
    struct hs_sweep sweep = {
        .precision = c->precision,
        .layout = f.layout,
        .box = *box,
        .op = &op,
        .in = network_origin(&f, f.in, size),
        .out = network_origin(&f, f.out, size),
        .steps = c->steps,
        .source = {.form = c->source ? HS_SOURCE_IS_FIELD : HS_SOURCE_IS_UNIFORM,
                   .value = value,
                   .field = &field},
        .threads = 1,
        .scratch = plan.scratch ? calloc(1, plan.scratch) : NULL};
    memcpy(sweep.source.pitch, f.layout.pitch, sizeof f.layout.pitch);
    emulator_set_order_c(order);
    assert_ok_of(what, kernel->sweep(&plan, &sweep, &err));
    const char *complaint = emulator_complaint_c();
    if (complaint)
        fail_msg("%s: %s", what, complaint);
    hold_launch(&plan, &sweep, what);
    const int64_t written = network_fields_end(&m, &f);
    for (int step = 0; step < c->steps; step++)
        network_model_sweep(&m, step);
    network_compare(&m, &f, box, what);
    if (written != hs_box_count(box))
        fail_msg("%s: %lld nodes were written, not %lld", what, (long long)written,
                 (long long)hs_box_count(box));
    if (c->steps == 1 && plan.recursion > 0)
        hold_recursion(kernel, &plan, sweep, f.out, order != 1, what);
    free(sweep.scratch);
    network_fields_release(&f);
    network_model_release(&m);
}

/* By `turn`, chooses the body (layers, blocks, single odd nodes, noise) and the axes that wrap.
 * Bytes have 250 rows at most. */
static void vary(struct network_case *c, int turn)
{
    static const struct {
        int64_t block[HS_AXES], noise, kinds;
    } bodies[] = {{{1000, 1000, 3}, 1 << 29, 8},
                  {{1000, 3, 1000}, 1 << 29, 8},
                  {{8, 8, 8}, 1 << 29, 8},
                  {{1000, 1000, 1000}, 500, 31},
                  {{1, 1, 1}, 1, 31},
                  {{5, 1000, 7}, 40, 3},
                  {{1000, 1000, 1000}, 1 << 29, 1}};
    const int n = turn % (int)(sizeof bodies / sizeof *bodies);
    memcpy(c->block, bodies[n].block, sizeof c->block);
    c->noise = bodies[n].noise;
    c->kinds = bodies[n].kinds;
    if (c->form != HS_NETWORK_BYTES)
        c->kinds *= turn % 3 ? 1 : 150;
    for (int axis = 0; axis < c->dims; axis++)
        c->wrap[axis] = turn % 5 == 1 + axis || turn % 5 == 4;
    c->sinks = turn % 2;
    c->forced = turn % 4 < 2;
}

static bool can(struct network_case *c)
{
    char reason[200];
    return hs_features_cover(kernel->name, kernel->features, network_features(c), reason,
                             sizeof reason);
}

/* Odd and even sizes, below and above a tile, more tiles than an H200 runs at once, and boxes that
 * begin anywhere. */
static const struct {
    int64_t points[HS_AXES];
    struct hs_box part;
} grids[HS_AXES + 1][9] = {
    [1] = {{{3, 1, 1}}, {{256, 1, 1}}, {{1531, 1, 1}}, {{700, 1, 1}, {{301, 0, 0}, {333, 1, 1}}}},
    [2] = {{{3, 4, 1}},
           {{33, 70, 1}},
           {{130, 67, 1}},
           {{256, 9, 1}},
           {{300, 41, 1}, {{37, 5, 0}, {291, 38, 1}}}},
    [3] = {{{3, 4, 5}},
           {{35, 34, 39}},
           {{131, 11, 9}},
           {{128, 8, 17}},
           {{140, 19, 21}, {{5, 3, 4}, {135, 18, 20}}},
           {{524, 9, 4}, {{3, 0, 0}, {521, 9, 4}}},
           {{5, 1130, 3}},
           {{37, 18, 70}, {{9, 17, 1}, {34, 18, 69}}}},
};

void test_cuda_conduction__gives_the_bits_of_the_definition(void **state)
{
    if (kernel->features & HS_APPLIES_WALLS)
        skip();
    int turn = 0, tried = 0;
    for (int n = 0; n < HS_AXES * HS_PRECISIONS * 3; n++)
        for (int source = 0; source < 2; source++) {
            struct network_case c = {.dims = 1 + n % 3,
                                     .steps = 1,
                                     .precision = (enum hs_precision)(n / 3 % 2),
                                     .form = (enum hs_network_form)(n / 6),
                                     .source = source};
            for (int g = 0; can(&c) && grids[c.dims][g].points[0]; g++, turn++, tried++) {
                memcpy(c.points, grids[c.dims][g].points, sizeof c.points);
                vary(&c, turn);
                const struct hs_box part = grids[c.dims][g].part, whole = network_whole(&c);
                run(&c, part.hi[0] ? &part : &whole, turn % ORDERS);
            }
        }
    assert_true(tried >= 24);
}

/* One tile and slightly more, a few tiles, many planes. Tiles of fused sweeps have 64 nodes along
 * x, and along y 72 in float and 36 in double. */
void test_cuda_conduction__fused_sweeps_give_the_bits_of_single_ones(void **state)
{
    static const int64_t points[][HS_AXES] = {
        {64, 72, 3}, {65, 73, 7}, {132, 79, 12}, {121, 143, 9}, {72, 75, 41}};
    if (!(kernel->features & HS_APPLIES_WALLS))
        skip();
    int turn = 0;
    for (int n = 0; n < HS_PRECISIONS * 2; n++)
        for (int g = 0; g < 7; g++, turn++) {
            struct network_case c = {.dims = 3,
                                     .steps = turn % 3 == 2 ? 1 + turn / 3 % kernel->steps
                                                            : kernel->steps,
                                     .precision = (enum hs_precision)(n % 2),
                                     .form = (enum hs_network_form)(n / 2)};
            memcpy(c.points, points[g % 5], sizeof c.points);
            vary(&c, turn);
            c.wrap[HS_X] = c.wrap[HS_X] && c.points[HS_X] % 4 == 0; /* others are refused */
            const struct hs_box whole = network_whole(&c);
            run(&c, &whole, turn % ORDERS);
        }
}
