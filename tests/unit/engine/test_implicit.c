/* Implicit steps that are given up during the solution of their equations. */
#include "modes_case.h"

extern const struct hs_backend hs_backend_cpu;
extern const struct hs_kernel hs_kernel_cpu_openmp;
extern const struct hs_method hs_method_implicit;

static const struct hs_backend *const cpu = &hs_backend_cpu;

/* Stops a solution once it has reported this often. */
struct patience {
    int left;
};

static bool tell(void *self, const struct hs_solution *so_far)
{
    struct patience *patience = self;
    return patience->left-- == 0;
}

static void download(const struct modes_case *c, struct hs_backend_state *state, void *field)
{
    const struct hs_box all = hs_grid_box(&c->problem.grid);
    assert_ok(cpu->download(state, &all, field, &err));
}

/* Whether the steps were given up, without any message. */
static bool gave_up(struct hs_method_state *self, struct hs_backend_state *state,
                    const struct hs_span *span)
{
    struct hs_error err = {0};
    const enum hs_status st = hs_method_implicit.advance(self, cpu, state, span, &err);
    if (st && (st != HS_INTERRUPTED || err.text))
        fail_msg("status %d: %s", (int)st, err.text ? err.text : "no message");
    hs_error_release(&err);
    return st == HS_INTERRUPTED;
}

/* Takes three steps, with the change of the last one, and stops after `patience` reports. Returns
 * whether they were unfinished; then the field must be unchanged. */
static bool is_stopped(const struct modes_case *c, int64_t patience)
{
    const struct hs_problem *problem = &c->problem;
    const struct hs_box all = hs_grid_box(&problem->grid);
    const size_t bytes =
        (size_t)hs_grid_count(&problem->grid) * hs_precision_size(problem->precision);
    const struct hs_span one = {.count = 1, .step = 0.1, .keep_last = true};
    const struct hs_span three = {.count = 3, .first = 1, .step = 0.1, .keep_last = true};
    struct hs_backend_state *state = NULL;
    struct hs_method_state *self = NULL;
    struct patience left = {(int)patience};
    const struct hs_solve_watch watch = {&left, tell};
    void *before = malloc(bytes), *after = malloc(bytes);
    assert_true(before && after);
    assert_ok(cpu->create(problem, &hs_kernel_cpu_openmp, &state, &err));
    assert_ok(cpu->upload(state, &all, c->initial, &err));
    assert_ok(hs_method_implicit.create(problem, cpu, state, &self, &err));
    assert_ok(hs_method_implicit.advance(self, cpu, state, &one, &err));
    download(c, state, before);
    hs_method_implicit.watch(self, &watch);
    const bool stopped = gave_up(self, state, &three);
    download(c, state, after);
    if (stopped) {
        struct hs_reduction reduction;
        assert_memory_equal(before, after, bytes);
        assert_ok(hs_reduce(cpu, state, problem, &reduction, &err));
        assert_true(isnan(reduction.change));
    } else {
        assert_memory_not_equal(before, after, bytes);
    }
    hs_method_implicit.destroy(self);
    cpu->destroy(state);
    free(before);
    free(after);
    return stopped;
}

void test_implicit__steps_that_are_given_up_leave_the_field(void **state)
{
    static const char *const walls[HS_FACES] = {"dirichlet", "robin",    "neumann",
                                                "dirichlet", "periodic", "periodic"};
    static const int64_t points[HS_AXES] = {11, 9, 8};
    for (int precision = 0; precision < HS_PRECISIONS; precision++) {
        struct modes_case c = make_case(3, 1, (enum hs_precision)precision, walls, points, true);
        int patience = 0;
        while (is_stopped(&c, patience))
            patience++;
        /* three steps of several iterations each, and the guesses */
        assert_in_range(patience, 9, 99);
        release_case(&c);
    }
}
