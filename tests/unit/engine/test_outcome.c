#include "engine/outcome.h"
#include "test.h"

#include <math.h>

/* Exactly the outcomes with exit code 0 count as passed, and have words of their own. */
void test_outcome__is_finished_only_where_all_checks_are_met(void **state)
{
    static const struct {
        bool sought, reached;
        double bound, error;
        enum hs_phase phase;
        const char *name;
        bool passed;
    } table[] = {
        {false, false, NAN, NAN, HS_PHASE_RUNNING, "running", false},
        {false, false, NAN, NAN, HS_PHASE_END, "finished", true},
        {false, false, 1.0, 0.5, HS_PHASE_END, "finished", true},
        {false, false, 1.0, 1.5, HS_PHASE_END, "failed check", false},
        {false, false, 1.0, NAN, HS_PHASE_END, "failed check", false},
        {true, true, NAN, NAN, HS_PHASE_END, "steady", true},
        {true, true, 1.0, 1.5, HS_PHASE_END, "failed check", false},
        {true, false, NAN, NAN, HS_PHASE_END, "not steady", false},
        {true, false, 1.0, 1.5, HS_PHASE_END, "not steady", false},
        {true, false, NAN, NAN, HS_PHASE_STOPPED, "stopped", false},
        {true, false, NAN, NAN, HS_PHASE_DIVERGED, "diverged", false},
        {false, false, NAN, NAN, HS_PHASE_UNSOLVED, "unsolved", false},
    };
    for (size_t n = 0; n < sizeof table / sizeof *table; n++) {
        struct hs_problem problem;
        hs_problem_init(&problem);
        problem.schedule.steady = table[n].sought;
        problem.exact.max_error = table[n].bound;
        const struct hs_steady steady = {.sought = table[n].sought, .reached = table[n].reached};
        const enum hs_outcome outcome =
            hs_outcome_of(&problem, table[n].phase, &steady, table[n].error);
        assert_string_equal(hs_outcome_name(outcome), table[n].name);
        assert_int_equal(hs_outcome_passed(outcome), table[n].passed);
    }
}
