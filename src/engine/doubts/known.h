/* What is known of a problem's temperatures before a run; walls are those of
 * hs_problem_wall_count. */
#ifndef HS_ENGINE_DOUBTS_KNOWN_H
#define HS_ENGINE_DOUBTS_KNOWN_H

#include "core/problem.h"

/* The range of the initial field, without nodes that a wall prescribes, from evenly spread rows;
 * false: not known. */
bool hs_doubts_initial_span(const struct hs_problem *problem, double span[2]);

/* The initial temperature of a node; NaN in rows too long to be looked at. */
double hs_doubts_initial_at(const struct hs_problem *problem, const int64_t node[HS_AXES]);

/* Whether a wall is a patch on another. */
bool hs_doubts_is_patch(const struct hs_problem *problem, int wall);

/* The node in the middle of a face. */
void hs_doubts_middle(const struct hs_problem *problem, int face, int64_t node[HS_AXES]);

/* A wall's temperature at t = 0, in the middle of its face, or of a patch, if it is one number;
 * false: it has none. */
bool hs_doubts_wall_temperature(const struct hs_problem *problem, int wall, double *out);

/* The same of a face of a stencil. */
bool hs_doubts_face_temperature(const struct hs_problem *problem, int face, double *out);

/* Where the config has its face. */
const char *hs_doubts_place_of_wall(const struct hs_problem *problem, int wall);

/* Whether a temperature and the initial field, of that span, are in two units, degC mixed with K:
 * 20 in one is 293 in the other. In a case that is said to be in degC, 1000 is more likely that of
 * a fire; in V or mol/m^3 any two numbers may meet. */
bool hs_doubts_two_units(const struct hs_problem *problem, const double span[2], double other);

/* Absolute zero in the unit of the temperatures, where W and J say that they are temperatures and
 * the unit is one of two; else NaN. In kelvin they may be differences, but not where `usual` is one
 * of them. */
double hs_doubts_absolute_zero(const struct hs_problem *problem, double usual);

/* Widens a range to hold a value. */
void hs_doubts_widen(double range[2], double value);

#endif
