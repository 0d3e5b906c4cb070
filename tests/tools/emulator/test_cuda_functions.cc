/*
 * What src/functions/ evaluates on a CUDA device, run by the emulator: the host's own bits, since
 * the emulated device has the host's sin and exp.
 */
#include "test.h"

#include "functions/device.cuh"
#include "functions/evaluate.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

static const hs_grid grid = {3, {300, 6, 5}, {-0.5, 0.25, -1.0}, {0.0625, 0.3, 0.7}};

/* Made by hand, as config readers are above this layer. */
struct program {
    const char *text;
    std::vector<hs_instruction> code;
};

#define OP(name)                                                                                   \
    {                                                                                              \
        HS_OP_##name, 0.0                                                                          \
    }
#define NUMBER(value)                                                                              \
    {                                                                                              \
        HS_OP_CONSTANT, value                                                                      \
    }

static const program programs[] = {
    {"3.5", {NUMBER(3.5)}},
    {"x", {OP(X)}},
    {"y*sin(t)", {OP(Y), OP(T), OP(SIN), OP(MULTIPLY)}},
    {"x - z/t", {OP(X), OP(Z), OP(T), OP(DIVIDE), OP(SUBTRACT)}},
    {"x*t", {OP(X), OP(T), OP(MULTIPLY)}},
    {"exp(x*y)*z + cos(t)",
     {OP(X), OP(Y), OP(MULTIPLY), OP(EXP), OP(Z), OP(MULTIPLY), OP(T), OP(COS), OP(ADD)}},
    {"sin(x*y*z)*sin(t)",
     {OP(X), OP(Y), OP(MULTIPLY), OP(Z), OP(MULTIPLY), OP(SIN), OP(T), OP(SIN), OP(MULTIPLY)}},
    {"x < (y < t ? z : x*z) ? x*y : 2",
     {OP(X), OP(Y), OP(T), OP(LESS), OP(Z), OP(X), OP(Z), OP(MULTIPLY), OP(SELECT), OP(LESS), OP(X),
      OP(Y), OP(MULTIPLY), NUMBER(2.0), OP(SELECT)}},
    {"(x - t)^2 + y^2 + z^2 < 0.3 ? atan2(x, z) : max(y, t)",
     {OP(X), OP(T), OP(SUBTRACT), OP(SQUARE), OP(Y), OP(SQUARE), OP(ADD), OP(Z), OP(SQUARE),
      OP(ADD), NUMBER(0.3), OP(LESS), OP(X), OP(Z), OP(ATAN2), OP(Y), OP(T), OP(MAX), OP(SELECT)}},
};

/* x + (y + (z + (t + ...))), as deep as a program may be. */
static program deepest()
{
    program p = {"deepest", {}};
    for (int i = 0; i < HS_EXPRESSION_DEPTH; i++)
        p.code.push_back({HS_OP_X + i % 4, 0.0});
    for (int i = 1; i < HS_EXPRESSION_DEPTH; i++)
        p.code.push_back({i % 3 ? HS_OP_SUBTRACT : HS_OP_MULTIPLY, 0.0});
    return p;
}

static double value_at(const hs_expression &e, const hs_cuda_patch &p, const int64_t node[HS_AXES],
                       double t)
{
    double at[HS_AXES];
    for (int axis = 0; axis < HS_AXES; axis++)
        at[axis] = p.lower[axis] + (double)(p.first[axis] + node[axis]) * p.spacing[axis];
    return hs_expression_at(e.code, e.length, at[HS_X], at[HS_Y], at[HS_Z], t);
}

/* All values of a patch, whose strides are those of a dense array of one number more than it has.
 */
static void check_patch(const char *text, const hs_expression &e, const hs_cuda_function *function,
                        hs_cuda_patch patch, hs_precision precision, int count)
{
    const size_t size = hs_precision_size(precision);
    const int64_t nodes = patch.count[HS_X] * patch.count[HS_Y] * patch.count[HS_Z];
    const double scale = 0.7;
    patch.stride[HS_X] = 1;
    patch.stride[HS_Y] = patch.count[HS_X];
    patch.stride[HS_Z] = patch.count[HS_X] * patch.count[HS_Y];
    hs_cuda_times times = {};
    times.count = count;
    std::vector<std::vector<char>> out((size_t)count);
    for (int m = 0; m < count; m++) {
        out[m].assign((size_t)(nodes + 1) * size, 0x55);
        times.t[m] = 0.1 + 0.3 * m;
        times.out[m] = out[m].data();
    }
    assert_ok(hs_cuda_evaluate(function, &patch, &times, scale, precision, NULL, &err));
    if (const char *complaint = emulator_complaint())
        fail_msg("%s: %s", text, complaint);
    for (int m = 0; m < count; m++) {
        for (int64_t n = 0; n < nodes; n++) {
            const int64_t node[] = {n % patch.count[HS_X],
                                    n / patch.count[HS_X] % patch.count[HS_Y],
                                    n / patch.count[HS_X] / patch.count[HS_Y]};
            const double value = value_at(e, patch, node, times.t[m]) * scale;
            double expected;
            hs_write(precision, &expected, 0, value);
            if (memcmp(out[m].data() + (size_t)n * size, &expected, size) != 0)
                fail_msg("%s, moment %d of %d, node %lld of %lld: %g, not %g", text, m, count,
                         (long long)n, (long long)nodes, hs_read(precision, out[m].data(), n),
                         value);
        }
        for (size_t b = 0; b < size; b++)
            assert_int_equal(out[m][(size_t)nodes * size + b], 0x55);
    }
}

/* All nodes, a face across each axis, a line along each, and a box inside. */
static std::vector<hs_cuda_patch> patches()
{
    std::vector<hs_cuda_patch> all = {hs_cuda_patch_of(&grid, NULL)};
    for (int axis = 0; axis < HS_AXES; axis++) {
        hs_cuda_patch face = all[0], line = all[0];
        face.count[axis] = 1;
        face.first[axis] = grid.points[axis] - 1;
        for (int other = 0; other < HS_AXES; other++)
            line.count[other] = other == axis ? line.count[other] : 1;
        all.push_back(face);
        all.push_back(line);
    }
    hs_cuda_patch inside = all[0];
    inside.first[HS_X] = 7, inside.first[HS_Y] = 2, inside.first[HS_Z] = 1;
    inside.count[HS_X] = 257, inside.count[HS_Y] = 3, inside.count[HS_Z] = 2;
    all.push_back(inside);
    return all;
}

static void check_program(const program &p, hs_tables_of which)
{
    const hs_expression e = hs_expression_part(p.code.data(), (int)p.code.size() - 1);
    const double t[] = {0.1, 0.4, 0.7};
    hs_tabulation tabulation;
    hs_tabulation_init(&tabulation, &e, &grid, which);
    void *memory = malloc((size_t)hs_tabulation_bytes(&tabulation, &grid, 3) + 1);
    hs_tabulation_release(&tabulation);
    hs_cuda_tables tables;
    assert_ok(hs_cuda_tables_init(&tables, &e, &grid, which, 3, memory, &err));
    for (const int count : {3, 1, 2}) {
        assert_ok(hs_cuda_tables_fill(&tables, &grid, count, t, NULL, &err));
        for (const hs_cuda_patch &patch : patches())
            for (const hs_precision precision : {HS_FLOAT, HS_DOUBLE})
                check_patch(p.text, e, &tables.left, patch, precision, count);
    }
    hs_cuda_tables_release(&tables);
}

/* With many rows a thread takes the times one after the other. */
void test_cuda_functions__have_them_over_many_rows(void **state)
{
    static const hs_grid many = {3, {3, 131, 129}, {-0.5, 0.25, -1.0}, {0.0625, 0.03, 0.07}};
    const hs_cuda_patch all = hs_cuda_patch_of(&many, NULL);
    for (const program &p : programs) {
        const hs_expression e = hs_expression_part(p.code.data(), (int)p.code.size() - 1);
        hs_cuda_tables tables;
        assert_ok(hs_cuda_tables_init(&tables, &e, &many, HS_TABLES_OF_NUMBERS, 3, NULL, &err));
        check_patch(p.text, e, &tables.left, all, HS_FLOAT, 3);
        hs_cuda_tables_release(&tables);
    }
}

void test_cuda_functions__have_the_hosts_bits(void **state)
{
    for (const program &p : programs)
        for (const hs_tables_of which :
             {HS_TABLES_OF_NUMBERS, HS_TABLES_OF_PLANES, HS_TABLES_OF_FIELDS})
            check_program(p, which);
    check_program(deepest(), HS_TABLES_OF_NUMBERS);
    check_program(deepest(), HS_TABLES_OF_PLANES);
}

/* Tables of (x - t)*(y*z) + z*t and without column or offset, as a kernel reads them. */
void test_cuda_functions__separations_give_the_expressions_bits(void **state)
{
    static const program whole[] = {
        {"(x - t*y)*z + z*t",
         {OP(X), OP(T), OP(Y), OP(MULTIPLY), OP(SUBTRACT), OP(Z), OP(MULTIPLY), OP(Z), OP(T),
          OP(MULTIPLY), OP(ADD)}},
        {"(x - t*y)*exp(z)",
         {OP(X), OP(T), OP(Y), OP(MULTIPLY), OP(SUBTRACT), OP(Z), OP(EXP), OP(MULTIPLY)}},
        {"x*y*sin(t) + z",
         {OP(X), OP(Y), OP(MULTIPLY), OP(T), OP(SIN), OP(MULTIPLY), OP(Z), OP(ADD)}},
    };
    const double t[] = {0.0, 0.25, 0.5, 1.75};
    const hs_cuda_patch all = hs_cuda_patch_of(&grid, NULL);
    for (const program &p : whole) {
        const hs_expression e = hs_expression_part(p.code.data(), (int)p.code.size() - 1);
        hs_separation separation;
        hs_cuda_separation tables;
        assert_true(hs_expression_separate(&e, grid.dims, &separation));
        assert_int_equal(separation.axis, HS_Z);
        assert_ok(hs_cuda_separation_init(&tables, &separation, &grid, 4, &err));
        assert_ok(hs_cuda_separation_fill(&tables, &grid, 4, t, NULL, &err));
        assert_int_equal(tables.pitch % 16, 0);
        for (int64_t n = 0; n < 4 * hs_grid_count(&grid); n++) {
            const int64_t of = n / 4, level = n % 4;
            const int64_t node[] = {of % grid.points[HS_X],
                                    of / grid.points[HS_X] % grid.points[HS_Y],
                                    of / grid.points[HS_X] / grid.points[HS_Y]};
            const hs_source_tables &at = tables.level[level];
            const hs_source_line &line = at.line[node[HS_Z]];
            const double value =
                at.plane[node[HS_Y] * tables.pitch + node[HS_X]] * line.column + line.offset;
            const double expected = value_at(e, all, node, t[level]);
            if (memcmp(&value, &expected, sizeof value) != 0)
                fail_msg("%s, node %lld: %.17g, not %.17g", p.text, (long long)of, value, expected);
        }
        hs_cuda_separation_release(&tables);
    }
}

/* ---- bodies ---------------------------------------------------------------------------------- */

/* A grid of two axes that are stretched, and nodes of three rows, one of which is held. */
struct body {
    hs_grid of = {3, {77, 6, 5}, {-0.5, 0.25, -1.0}, {0.0625, 0.3, 0.7}};
    std::vector<double> place[HS_AXES], width[HS_AXES];
    std::vector<uint8_t> byte;
    std::vector<uint16_t> number;
    std::vector<double> capacity;
    hs_network_row row[3] = {};

    body()
    {
        for (int axis = 0; axis < HS_AXES; axis++) {
            double at = of.lower[axis];
            for (int64_t i = 0; i < of.points[axis]; i++) {
                place[axis].push_back(at);
                width[axis].push_back(0.1 + 0.01 * (double)(i % 7) + axis);
                at += of.spacing[axis] * (1.0 + 0.3 * (double)(i % 3));
            }
            of.coordinate[axis] = axis == HS_Y ? NULL : place[axis].data();
        }
        row[0].kind = HS_NODE_HELD;
        for (int r = 0; r < 3; r++)
            row[r].capacity = 3.7 + 1.9 * r;
        for (int64_t n = 0; n < hs_grid_count(&of); n++) {
            number.push_back((uint16_t)(n * n % 3));
            byte.push_back((uint8_t)number[n]);
            capacity.push_back(number[n] ? row[number[n]].capacity : -row[0].capacity);
        }
    }
    hs_cuda_shares shares(hs_network_form form) const
    {
        hs_cuda_shares out = {};
        out.form = form;
        out.number = form == HS_NETWORK_BYTES ? (const void *)byte.data() : number.data();
        out.row = row;
        out.capacity = capacity.data();
        for (int axis = 0; axis < HS_AXES; axis++)
            out.width[axis] = width[axis].data();
        out.pitch[HS_X] = 1, out.pitch[HS_Y] = of.points[HS_X];
        out.pitch[HS_Z] = of.points[HS_X] * of.points[HS_Y];
        return out;
    }
    double value(const hs_expression &e, const int64_t node[HS_AXES], double t) const
    {
        double at[HS_AXES], volume = 1.0;
        for (int axis = 0; axis < HS_AXES; axis++) {
            at[axis] = hs_grid_coordinate(&of, axis, node[axis]);
            volume *= width[axis][node[axis]];
        }
        const int of_node = number[hs_grid_index(&of, node)];
        const double out =
            0.7 * hs_expression_at(e.code, e.length, at[HS_X], at[HS_Y], at[HS_Z], t);
        return of_node ? out * (volume / row[of_node].capacity) : 0.0;
    }
};

static void check_body(const body &b, const program &p, hs_network_form form,
                       hs_precision precision)
{
    const hs_expression e = hs_expression_part(p.code.data(), (int)p.code.size() - 1);
    const int64_t nodes = hs_grid_count(&b.of), nx = b.of.points[HS_X], ny = b.of.points[HS_Y];
    const double t = 0.4;
    std::vector<double> out((size_t)nodes);
    const hs_cuda_times now = {1, {t}, {out.data()}};
    hs_cuda_tables tables;
    hs_tabulation tabulation;
    hs_tabulation_init(&tabulation, &e, &b.of, HS_TABLES_OF_PLANES);
    void *memory = malloc((size_t)hs_tabulation_bytes(&tabulation, &b.of, 1) + 1);
    hs_tabulation_release(&tabulation);
    assert_ok(hs_cuda_tables_init(&tables, &e, &b.of, HS_TABLES_OF_PLANES, 1, memory, &err));
    assert_ok(hs_cuda_tables_fill(&tables, &b.of, 1, &t, NULL, &err));
    hs_cuda_patch patch = hs_cuda_patch_of(&b.of, tables.place);
    patch.share = b.shares(form);
    memcpy(patch.stride, patch.share.pitch, sizeof patch.stride);
    assert_ok(hs_cuda_evaluate(&tables.left, &patch, &now, 0.7, precision, NULL, &err));
    if (const char *complaint = emulator_complaint())
        fail_msg("%s: %s", p.text, complaint);
    for (int64_t n = 0; n < nodes; n++) {
        const int64_t node[] = {n % nx, n / nx % ny, n / nx / ny};
        double due;
        hs_write(precision, &due, 0, b.value(e, node, t));
        if (hs_read(precision, out.data(), n) != hs_read(precision, &due, 0))
            fail_msg("%s, node %lld: %.17g, not %.17g", p.text, (long long)n,
                     hs_read(precision, out.data(), n), hs_read(precision, &due, 0));
    }
    hs_cuda_tables_release(&tables);
}

void test_cuda_functions__have_the_hosts_bits_in_bodies(void **state)
{
    const body b;
    for (const program &p : programs)
        for (const hs_network_form form : {HS_NETWORK_BYTES, HS_NETWORK_SHORTS, HS_NETWORK_ARRAYS})
            for (const hs_precision precision : {HS_FLOAT, HS_DOUBLE})
                check_body(b, p, form, precision);
}
