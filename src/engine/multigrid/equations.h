/*
 * The steady equations of a problem, in double: at each free node
 *
 *     sum over edges of G (T_j - T_i) - g_i T_i + inflow_i = 0
 *
 * on the network of conduction (core/network.h); all other nodes keep their temperature. A stencil
 * of radius 1 is made into a network: a node stands for a share of a cell, so that the two rows
 * which meet at an edge say the same about it.
 *
 * Those of an implicit step have a shift besides, which takes shift C_i T_i from the left side:
 * each node's heat capacity is a sink. So it is one on coarse networks, too, where coarsen.h has
 * its sum.
 */
#ifndef HS_ENGINE_MULTIGRID_EQUATIONS_H
#define HS_ENGINE_MULTIGRID_EQUATIONS_H

#include "core/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hs_equations {
    const struct hs_problem *problem;
    const struct hs_network *network;
    struct hs_network own; /* of a stencil; else empty */
    double *inflow;        /* [nodes] W, or per unit of C; 0 at nodes that are not free; at first
                              that of t = 0 */
    double balance;        /* sum of the inflow ... */
    double flows;          /* ... and of its size */
    double capacity;       /* sum of C of the free nodes */
    double shift;          /* 1/s; 0: the steady equations */
    bool floating; /* but for the shift nothing holds the mean: no node is held, and there is
                      no sink */
    int threads;
};

/* The matrix is singular, for the constant. */
static inline bool hs_equations_are_singular(const struct hs_equations *equations)
{
    return equations->floating && equations->shift == 0.0;
}

/* HS_OK, or HS_BAD_INPUT and why the problem has no such equations. */
enum hs_status hs_equations_suit(const struct hs_problem *problem, struct hs_error *err);

/* Of a problem that suits, without a shift. HS_DEVICE when memory is short; to be released either
 * way. */
enum hs_status hs_equations_init(struct hs_equations *equations, const struct hs_problem *problem,
                                 struct hs_error *err);
void hs_equations_release(struct hs_equations *equations);

/* What sources and walls bring at time t [s]; what all but the problem's source do. out: [nodes].
 * False: out of memory. */
bool hs_equations_inflow_at(const struct hs_equations *equations, double t, double *out);
bool hs_equations_inflow_without_source(const struct hs_equations *equations, double t,
                                        double *out);

/* The same of one node, but for walls that change along them and in time at once: `source` is what
 * the source brings it [K/s], forcing [forcing_count] that of time t, allocated, NULL where memory
 * is short. */
double hs_equations_inflow_of(const struct hs_equations *equations, const double *forcing, double t,
                              int64_t node, double source);
double *hs_equations_forcing_at(const struct hs_equations *equations, double t);

/* How large a residual is, as rates of change r/C [K/s]. */
struct hs_rates {
    double largest;
    double told; /* the largest where it is more than `slack` times its terms' rounding, or 0 */
};

/* residual: [nodes] of the temperatures T; 0 at nodes that are not free. */
struct hs_rates hs_equations_residual(const struct hs_equations *equations, double slack,
                                      const double *T, double *residual);

/* q = A p, A the positive matrix of -sum G (p_j - p_i) + (g_i + shift C_i) p_i at free nodes. p is
 * 0 at the others, and so is q. Returns p.q. */
double hs_equations_apply(const struct hs_equations *equations, const double *p, double *q);

#ifdef __cplusplus
}
#endif

#endif
