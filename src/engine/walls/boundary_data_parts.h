/* A list of what acts on a field: for questions about how large it is, and when it acts. */
#ifndef HS_ENGINE_WALLS_BOUNDARY_DATA_PARTS_H
#define HS_ENGINE_WALLS_BOUNDARY_DATA_PARTS_H

#include "core/problem.h"

enum { HS_DATA_MOST = 1 + HS_FACES };

/* The source of all nodes, or a face's data. */
struct hs_datum {
    const struct hs_value *value;
    const struct hs_field *field; /* numbers instead of `value`; NULL: none */
    int face;                     /* -1: at all nodes */
    double sweep_gain;            /* K a sweep per unit of it, of a source; 1 for walls */
    double gain;                  /* K per unit of it, over all of the time asked about */
};

/* The key that gives it. */
static inline enum hs_place hs_datum_place(const struct hs_datum *datum)
{
    return datum->face < 0 ? HS_PLACE_SOURCE : (enum hs_place)(HS_PLACE_FACE + datum->face);
}

/* For `sweeps` sweeps of `step` [s], `time` [s] in all. Returns how many there are. */
int hs_data_list(const struct hs_problem *problem, double step, double sweeps, double time,
                 struct hs_datum out[HS_DATA_MOST]);
double hs_datum_at(const struct hs_problem *problem, const struct hs_datum *datum,
                   const int64_t node[HS_AXES], double t);

/* Its largest finite absolute value, at nine nodes along each axis and five times up to `end` [s];
 * of numbers from a file, at all nodes. */
double hs_datum_largest(const struct hs_problem *problem, const struct hs_datum *datum, double end);

/* Nodes at which the datum differs, evenly spread, at most `most` along each axis. */
struct hs_datum_nodes {
    int64_t along[HS_AXES], count;
    int face;
};
struct hs_datum_nodes hs_datum_nodes_of(const struct hs_grid *grid, const struct hs_datum *datum,
                                        int64_t most);
void hs_datum_node(const struct hs_grid *grid, const struct hs_datum_nodes *of, int64_t n,
                   int64_t node[HS_AXES]);

/* For a body: K that a unit of each time function causes at the node that it affects most, in this
 * many sweeps of `step` [s]; in one sweep at a prescribed node. Allocated. */
double *hs_data_function_reaches(const struct hs_problem *problem, double step, double sweeps);

#endif
