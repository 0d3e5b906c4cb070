/*
 * A network's rows as coefficients of sweeps of one step, as kernels take them (core/network.h), in
 * the field's precision: the same numbers for every backend.
 */
#ifndef HS_ENGINE_NETWORK_COEFFICIENTS_H
#define HS_ENGINE_NETWORK_COEFFICIENTS_H

#include "core/host_device.h"
#include "core/network.h"
#include "core/wall.h"

#ifdef __cplusplus
extern "C" {
#endif

/* dt/C of a row; 0 unless its nodes are free. */
static inline HS_HOST_DEVICE double hs_network_rate(const struct hs_network_row *row, double step)
{
    return row->kind == HS_NODE_FREE ? step / row->capacity : 0.0;
}

/* What a row adds in a sweep, unrounded. `sum` is its forcing at the start of the sweep; for a
 * prescribed row, at its end. */
static inline HS_HOST_DEVICE double hs_network_added_by(const struct hs_network_row *row,
                                                        double sum, double step)
{
    return row->kind == HS_NODE_PRESCRIBED ? sum : hs_network_rate(row, step) * sum;
}

/* out: [row_count][HS_ROW_NUMBERS]. For a network with a palette. */
void hs_network_coefficients(const struct hs_network *network, enum hs_precision precision,
                             double step, void *out);

/* A sweep from t to `next` [s], of `step`. */
struct hs_network_time {
    double t, next, step;
};

/* W/K: a row's sink at time t. */
double hs_network_sink(const struct hs_network *network, const struct hs_network_row *row,
                       const struct hs_time_function *functions, double t);

/* Replaces the sinks that change with time in coefficients: [row_count][HS_ROW_NUMBERS]. */
void hs_network_set_sinks(const struct hs_network *network,
                          const struct hs_time_function *functions, enum hs_precision precision,
                          double t, void *out);

/* What each row adds in a sweep. out: [row_count]. For a network with a palette. */
void hs_network_forcing(const struct hs_network *network, const struct hs_time_function *functions,
                        enum hs_precision precision, const struct hs_network_time *time, void *out);

/* The same for one row, unrounded. */
double hs_network_added(const struct hs_network *network, const struct hs_network_row *row,
                        const struct hs_time_function *functions,
                        const struct hs_network_time *time);

/* The nodes of a network without a palette that something acts on, prescribed or other ones, in
 * increasing order: [*count], which the caller frees. NULL when memory is short. */
int64_t *hs_network_acted(const struct hs_network *network, bool prescribed, int threads,
                          int64_t *count);

/* What walls whose numbers change along them and in time at once add in a sweep [K], plus `base`,
 * which the problem's source adds at their nodes. base, out: [network->inflow.count]. */
void hs_network_inflow(const struct hs_network *network, const struct hs_network_time *time,
                       int threads, const double *base, double *out);

/* Whether a forcing or its sink changes with time; whether any of them does. */
bool hs_forcing_varies(const struct hs_forcing *forcing, const struct hs_time_function *functions);
bool hs_network_varies(const struct hs_network *network, const struct hs_time_function *functions);

#ifdef __cplusplus
}
#endif

#endif
