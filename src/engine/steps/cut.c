#include "engine/steps/cut.h"

#include "engine/steps/pulses.h"

#include <math.h>

static const double same = 1e-6;      /* of a step: closer times are equal */
static const double careful = 0.9;    /* of the step that the estimate allows */
static const double least = 0.2;      /* of a step that was too long: at least */
static const double most = 2.0;       /* times the last step: at most */
static const double worth = 1.2;      /* times the last step: less is not worth preparing for */
static const double shortest = 1e-12; /* of the time so far: shorter steps are rounding */
static const double at_zero = 1e-18;  /* of the interval: counts as the time so far at 0 s */

static enum hs_status too_short(const struct hs_cut *cut, double step, struct hs_error *err)
{
    return hs_error_add(err, HS_FAILED_CHECK,
                        "%s: time.tolerance = %.3g: at t = %.9g s it asks for steps of %.3g s; "
                        "give a larger one, or time.step instead",
                        hs_problem_place(cut->problem, HS_PLACE_TOLERANCE),
                        cut->problem->schedule.tolerance, cut->t, step);
}

/* The first step changes no node by more than the tolerance. If the rate is not a number, any step
 * shows that. */
static enum hs_status first_step(struct hs_cut *cut, const struct hs_cut_steps *steps,
                                 struct hs_method_state *self, struct hs_error *err)
{
    double rate;
    HS_TRY(steps->look(self, &rate, err));
    cut->wanted = isfinite(rate) && rate > 0.0 ? cut->problem->schedule.tolerance / rate : INFINITY;
    return HS_OK;
}

/* Goes to the end in steps of the same length as far as the estimate allows. */
enum hs_status hs_cut_go(struct hs_cut *cut, const struct hs_cut_steps *steps,
                         struct hs_method_state *self, double end, struct hs_error *err)
{
    const double tolerance = cut->problem->schedule.tolerance, begin = cut->t;
    if (!(cut->wanted > 0.0))
        HS_TRY(first_step(cut, steps, self, err));
    while (cut->t < end) {
        const double left = end - cut->t, count = ceil(left / cut->wanted * (1.0 - same));
        const double step = count > 1.0 ? left / count : left;
        const double t = count > 1.0 ? cut->t + step : end;
        double error, order;
        const struct hs_pulse_step within = {cut->t - cut->last, cut->t, t, end - begin, tolerance};
        if (step < shortest * fmax(fabs(cut->t), at_zero * (end - begin)))
            return too_short(cut, step, err);
        if (hs_pulses_missed(cut->problem, &within)) {
            cut->wanted = 0.5 * step;
            continue;
        }
        HS_TRY(steps->attempt(self, step, t, &error, &order, err));
        const double longer =
            fmin(fmax(careful * pow(tolerance / error, 1.0 / order), least), most);
        if (error <= tolerance) {
            cut->wanted = step * (longer < worth ? fmin(longer, 1.0) : longer);
            cut->t = t;
            cut->last = step;
            if (steps->accept)
                HS_TRY(steps->accept(self, step, t, err));
        } else {
            cut->wanted = step * longer;
            steps->refuse(self);
        }
    }
    return HS_OK;
}
