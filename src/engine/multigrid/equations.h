/*
 * The steady equations of a problem, in double. At each free node
 *
 *     sum over edges of G (T_j - T_i) - g_i T_i + inflow_i = 0
 *
 * on the conduction network (core/network.h); all other nodes keep their temperature. A stencil of
 * radius 1 is converted to a network: a node stands for a share of a cell, so that the rows of an
 * edge's two nodes agree on its conductance.
 *
 * The equations of an implicit step also have a shift, which subtracts shift C_i T_i from the left
 * side: each node's heat capacity is a sink. It stays a sink on coarse networks (coarsen.h).
 */
#ifndef HS_ENGINE_MULTIGRID_EQUATIONS_H
#define HS_ENGINE_MULTIGRID_EQUATIONS_H

#include "core/krylov.h"
#include "core/problem.h"

struct hs_equations {
    const struct hs_problem *problem;
    const struct hs_network *network;
    struct hs_network own;       /* of a stencil, or with sinks that change with time; else empty */
    struct hs_network_row *rows; /* own ones, if sinks change; else NULL */
    int64_t sinks_set;           /* how often those have been set */
    double *inflow;  /* [nodes] W, or per unit of C; 0 at nodes that are not free; initially that of
                        t = 0 */
    double balance;  /* sum of the inflow, */
    double flows;    /* and of the magnitudes of all that makes it up at each node */
    double capacity; /* sum of C of the free nodes */
    double shift;    /* 1/s; 0: the steady equations */
    bool floating; /* apart from the shift nothing fixes the mean: no node is held, and there is no
                      sink */
    int threads;
};

/* The matrix is singular: the constant is its null space. */
static inline bool hs_equations_are_singular(const struct hs_equations *equations)
{
    return equations->floating && equations->shift == 0.0;
}

/* HS_OK, or HS_BAD_INPUT and why the problem has no such equations. */
enum hs_status hs_equations_suit(const struct hs_problem *problem, struct hs_error *err);

/* For a problem that suits, without a shift. HS_DEVICE when memory is short; release in either
 * case. */
enum hs_status hs_equations_init(struct hs_equations *equations, const struct hs_problem *problem,
                                 struct hs_error *err);
void hs_equations_release(struct hs_equations *equations);

/* Sets the sinks that change to those of time t [s]. */
void hs_equations_set_sinks(struct hs_equations *equations, double t);

/* The inflow from walls at time t [s], and from the problem's source if `source`. out: [nodes].
 * False: out of memory. */
bool hs_equations_inflow_at(const struct hs_equations *equations, bool source, double t,
                            double *out);

/* The same for one node, without walls whose data vary along them and in time at once. `source`:
 * what the source brings to the node [K/s]; forcing [forcing_count]: hs_equations_forcing_at of
 * time t, which the caller frees, NULL when memory is short. */
double hs_equations_inflow_of(const struct hs_equations *equations, const double *forcing, double t,
                              int64_t node, double source);
double *hs_equations_forcing_at(const struct hs_equations *equations, double t);

/* residual: [nodes] for the temperatures T; 0 at nodes that are not free. */
struct hs_krylov_rates hs_equations_residual(const struct hs_equations *equations, double slack,
                                             const double *T, double *residual);

/* q = A p at free nodes, where A is the positive matrix of -sum G (p_j - p_i) + (g_i + shift C_i)
 * p_i. At all other nodes p is 0, and so is q. Returns p.q. */
double hs_equations_apply(const struct hs_equations *equations, const double *p, double *q);

#endif
