/* What acts on a field, listed: for questions about how large it is, and when it acts. */
#ifndef HS_ENGINE_WALLS_BOUNDARY_DATA_PARTS_H
#define HS_ENGINE_WALLS_BOUNDARY_DATA_PARTS_H

#include "core/problem.h"

enum { HS_DATA_MOST = 1 + HS_FACES };

/* The source of all nodes, or a face's data. */
struct hs_datum {
    enum hs_place place;
    const struct hs_value *value;
    const struct hs_field *field; /* numbers instead of `value`; NULL: none */
    int face;                     /* where it is; -1: at all nodes */
    double sweep_gain;            /* K a sweep per unit of it, of a source; 1 for walls */
    double gain;                  /* K per unit of it in all of the time asked about */
};

/* For `sweeps` sweeps of `step` [s], which come to `time` [s]. How many. */
int hs_data_list(const struct hs_problem *problem, double step, double sweeps, double time,
                 struct hs_datum out[HS_DATA_MOST]);
double hs_datum_at(const struct hs_problem *problem, const struct hs_datum *datum,
                   const int64_t node[HS_AXES], double t);

/* Nodes that differ in the datum's value, evenly spread, `most` along each axis. */
struct hs_lattice {
    int64_t points[HS_AXES], along[HS_AXES], count;
    int face;
};
struct hs_lattice hs_lattice_of(const struct hs_grid *grid, const struct hs_datum *datum,
                                int64_t most);
void hs_lattice_node(const struct hs_grid *grid, const struct hs_lattice *lattice, int64_t n,
                     int64_t node[HS_AXES]);

/* Of a body: K per unit of each time function, at the node that it does most to, in so many sweeps
 * of `step` [s]; of a prescribed node in one. Allocated. */
double *hs_data_function_reaches(const struct hs_problem *problem, double step, double sweeps);

#endif
