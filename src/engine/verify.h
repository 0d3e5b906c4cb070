/*
 * Verifies a kernel against the CPU reference, node by node, and against an exact solution on three
 * grids.
 */
#ifndef HS_ENGINE_VERIFY_H
#define HS_ENGINE_VERIFY_H

#include "engine/exact.h"
#include "engine/plan.h"

struct hs_comparison {
    int64_t sweeps;
    int64_t nodes;
    int64_t differing;       /* nodes whose bits differ */
    double max_abs;          /* K: largest |T - reference| */
    double max_relative;     /* largest |T - reference| / larger of the two */
    uint64_t max_ulps;       /* units in the last place between them */
    int64_t worst[HS_AXES];  /* node of the largest ULPs */
    double value, reference; /* there */
    double largest;          /* K: largest |T| in either run */
    bool device_functions;   /* the device's own sin, exp, ... were used */
    double bound;            /* K: largest max_abs allowed; 0 in double without device functions */
};

/* A run's result; that of the reference can be compared with any number of kernels'. */
struct hs_reference {
    int64_t sweeps;
    double largest; /* K: largest |T| in the run */
    void *field;    /* [nz][ny][nx] in the problem's precision, after these sweeps */
};

/* Runs `sweeps` sweeps of the plan with the reference. Release it after an error too. */
enum hs_status hs_verify_reference(const struct hs_problem *problem, const struct hs_plan *plan,
                                   int64_t sweeps, struct hs_reference *out, struct hs_error *err);
void hs_verify_reference_release(struct hs_reference *reference);

/*
 * Runs as many sweeps with the plan's kernel, from the same start, and compares.
 *
 * The bound. Every kernel adds the same terms in the same order with fused multiply-adds. In double
 * the reference does so too: the results agree bit for bit, and the bound is 0. In float the
 * reference accumulates in double and rounds once; a kernel rounds the coefficients, and once per
 * term. So in one sweep they differ by at most (terms + 2) * 2^-24 * sum|c| * max|T|, and in n
 * stable sweeps, which do not amplify, by n times that.
 *
 * A device evaluates walls and sources that vary in space itself, and its sin, exp and so on may
 * differ from the host's by a few ulps (16 are allowed): 16 * 2^-53 * max|T| more per sweep.
 */
enum hs_status hs_verify_compare(const struct hs_problem *problem, const struct hs_plan *plan,
                                 const struct hs_reference *reference, struct hs_comparison *out,
                                 struct hs_error *err);

/*
 * Compares the plan's kernel with the exact power of one sweep, found by its modes
 * (engine/modes/modes.h), for more sweeps than the reference could ever make. `lacking` says what
 * is missing for that: a problem without modes, or a library.
 *
 * The bound. A sweep rounds each term once, so n stable sweeps are off by at most n * (terms + 2) *
 * sum|c| * max|T| half epsilons; the modes by some epsilons, in double by 1e-13 of max|T|.
 */
struct hs_power {
    char lacking[512]; /* "": nothing */
    struct hs_comparison comparison;
};

enum hs_status hs_verify_power(const struct hs_problem *problem, const struct hs_plan *plan,
                               int64_t sweeps, struct hs_power *out, struct hs_error *err);

/* Default number of sweeps: the plan's, but no more than the slow reference does in some seconds;
 * for `power`, than a kernel does in a second or two. */
int64_t hs_verify_sweeps(const struct hs_problem *problem, const struct hs_plan *plan, bool power);

/* The error at the end of the config's run on its own grid. */
enum hs_status hs_verify_error(const struct hs_problem *problem, const struct hs_plan *plan,
                               struct hs_exact_error *out, struct hs_error *err);

enum { HS_REFINEMENT_GRIDS = 3 };

struct hs_refined {
    int64_t points[HS_AXES];
    double spacing; /* m: mean cell; of several axes the geometric mean */
    double step;    /* s */
    int64_t sweeps;
    double time; /* s: when the error was taken */
    struct hs_exact_error error;
    double distance; /* K: from the steady state, if one is sought; NaN: not known */
    double rounding; /* K: bound of the summed rounding, half an ulp of max|T| a sweep */
};

/* From coarse to fine. order[i]: from grids i and i+1, log(error ratio)/log(spacing ratio); NaN if
 * the finer grid's error may be rounding only. */
struct hs_refinement {
    struct hs_refined grid[HS_REFINEMENT_GRIDS];
    double order_max[HS_REFINEMENT_GRIDS - 1];
    double order_l2[HS_REFINEMENT_GRIDS - 1];
};

/* Why the problem cannot be moved to other grids; NULL if it can. */
const char *hs_verify_no_refinement(const struct hs_problem *problem);

/*
 * Solves the problem on three grids, each with half the spacing of the one before, up to the same
 * end. Walls keep their places, and the step is the same share of the limit (so it scales with the
 * spacing squared). One grid is the config's, unless that takes long: then the finest is coarser.
 */
enum hs_status hs_verify_refine(const struct hs_problem *problem, const struct hs_plan *plan,
                                double most_updates, struct hs_refinement *out,
                                struct hs_error *err);

#endif
