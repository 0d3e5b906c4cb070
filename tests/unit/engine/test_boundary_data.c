#include "engine/walls/boundary_data.h"
#include "test.h"
#include "walls.h"

#include <math.h>

enum { NX = 9, NY = 7, NZ = 5 };

static enum hs_status read_nothing(const struct hs_stored *stored, const struct hs_box *box,
                                   double *out, struct hs_error *err)
{
    return HS_IO; /* the file may be gone by then */
}

/* A source from a file whose largest number is at node (3, 5, 2), which the lattice does not see.
 */
static struct hs_problem heated_from_a_file(struct hs_stored *stored, double most)
{
    struct hs_problem problem = make_line(NX, 1.0);
    problem.grid = (struct hs_grid){.dims = 3, .points = {NX, NY, NZ}, .spacing = {1.0, 1.0, 1.0}};
    problem.precision = HS_FLOAT;
    *stored = (struct hs_stored){.dims = 3,
                                 .points = {NX, NY, NZ},
                                 .read = read_nothing,
                                 .extreme = most,
                                 .extreme_node = (2 * NY + 5) * NX + 3};
    problem.source = (struct hs_source){.present = true, .field.stored = stored, .rate = 1.0};
    return problem;
}

void test_boundary_data__an_excess_of_a_source_from_a_file_is_its_extreme(void **state)
{
    struct hs_stored stored;
    const struct hs_plan plan = {.sweeps = 100, .tail_step = 0.1, .end = 10.0, .limit = NAN};
    const int64_t suspect[HS_AXES] = {1, 1, 1};
    char said[400];
    struct hs_problem problem = heated_from_a_file(&stored, -1e39);
    assert_true(hs_boundary_data_find_excess(&problem, &plan, 0, 64, suspect, said, sizeof said));
    assert_non_null(strstr(said, "-1e+39, more than a field in float holds, at node (3, 5, 2)"));
    problem = heated_from_a_file(&stored, 1e9);
    assert_false(hs_boundary_data_find_excess(&problem, &plan, 0, 64, suspect, said, sizeof said));
}
