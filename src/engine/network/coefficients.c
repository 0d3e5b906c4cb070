#include "engine/network/coefficients.h"

#include "functions/moving.h"
#include "functions/time_function.h"

#include <stdlib.h>

void hs_network_coefficients(const struct hs_network *network, enum hs_precision precision,
                             double step, void *out)
{
    for (int r = 0; r < network->row_count; r++) {
        const struct hs_network_row *row = &network->row[r];
        const double numbers[HS_ROW_NUMBERS] = {
            row->conductance[HS_X],
            row->conductance[HS_Y],
            row->conductance[HS_Z],
            hs_network_rate(row, step),
            row->sink,
            row->kind == HS_NODE_PRESCRIBED ? 0.0 : 1.0,
        };
        for (int n = 0; n < HS_ROW_NUMBERS; n++)
            hs_write(precision, out, (int64_t)r * HS_ROW_NUMBERS + n, numbers[n]);
    }
}

double hs_network_added(const struct hs_network *network, const struct hs_network_row *row,
                        const struct hs_time_function *functions,
                        const struct hs_network_time *time)
{
    const struct hs_forcing *forcing = &network->forcing[row->forcing];
    const double t = row->kind == HS_NODE_PRESCRIBED ? time->next : time->t;
    return hs_network_added_by(row, hs_terms_at(&forcing->inflow, functions, t), time->step);
}

double hs_network_sink(const struct hs_network *network, const struct hs_network_row *row,
                       const struct hs_time_function *functions, double t)
{
    const struct hs_forcing *forcing = &network->forcing[row->forcing];
    return forcing->sink.count > 0
               ? forcing->steady_sink + hs_terms_at(&forcing->sink, functions, t)
               : row->sink;
}

void hs_network_set_sinks(const struct hs_network *network,
                          const struct hs_time_function *functions, enum hs_precision precision,
                          double t, void *out)
{
    for (int r = 0; r < network->row_count; r++)
        if (network->forcing[network->row[r].forcing].sink.count > 0)
            hs_write(precision, out, (int64_t)r * HS_ROW_NUMBERS + HS_ROW_SINK,
                     hs_network_sink(network, &network->row[r], functions, t));
}

void hs_network_forcing(const struct hs_network *network, const struct hs_time_function *functions,
                        enum hs_precision precision, const struct hs_network_time *time, void *out)
{
    for (int r = 0; r < network->row_count; r++)
        hs_write(precision, out, r, hs_network_added(network, &network->row[r], functions, time));
}

void hs_network_inflow(const struct hs_network *network, const struct hs_network_time *time,
                       int threads, const double *base, double *out)
{
    const struct hs_moving *inflow = &network->inflow;
    hs_moving_at(inflow, &network->grid, time->t, threads, out);
    for (int64_t n = 0; n < inflow->count; n++)
        out[n] = base[n] + hs_network_added_by(hs_network_row_at(network, inflow->node[n]), out[n],
                                               time->step);
}

static bool is_acted(const struct hs_network_row *row, bool prescribed)
{
    return row->forcing != 0 && (row->kind == HS_NODE_PRESCRIBED) == prescribed;
}

int64_t *hs_network_acted(const struct hs_network *network, bool prescribed, int threads,
                          int64_t *count)
{
    enum { PARTS = 256 };
    const int64_t nodes = hs_grid_count(&network->grid);
    int64_t first[PARTS + 1] = {0}; /* where each part begins */
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int p = 0; p < PARTS; p++)
        for (int64_t n = nodes * p / PARTS; n < nodes * (p + 1) / PARTS; n++)
            first[p + 1] += is_acted(&network->node[n], prescribed);
    for (int p = 0; p < PARTS; p++)
        first[p + 1] += first[p];
    *count = first[PARTS];
    int64_t *const list = malloc(((size_t)*count + 1) * sizeof *list);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int p = 0; p < (list ? (int)PARTS : 0); p++)
        for (int64_t n = nodes * p / PARTS, to = first[p]; n < nodes * (p + 1) / PARTS; n++)
            if (is_acted(&network->node[n], prescribed))
                list[to++] = n;
    return list;
}

bool hs_forcing_varies(const struct hs_forcing *forcing, const struct hs_time_function *functions)
{
    for (int n = 0; n < forcing->inflow.count; n++)
        if (hs_time_function_varies(&functions[forcing->inflow.function[n]]))
            return true;
    return forcing->sink.count > 0;
}

bool hs_network_varies(const struct hs_network *network, const struct hs_time_function *functions)
{
    for (int f = 0; f < network->forcing_count; f++)
        if (hs_forcing_varies(&network->forcing[f], functions))
            return true;
    return false;
}
