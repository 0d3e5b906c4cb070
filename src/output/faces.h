/* The boundary condition of each face, and which faces have the default because none was given. */
#ifndef HS_OUTPUT_FACES_H
#define HS_OUTPUT_FACES_H

#include "core/problem.h"
#include "output/json.h"

/* "x_min: dirichlet; x_max, y_min: fixed (assumed; none given)" */
void hs_faces_text(const struct hs_problem *problem);

/* "boundary": {"x_min": "dirichlet", ...}, "boundary_assumed": ["x_max", "y_min"] */
void hs_faces_json(struct hs_json *json, const struct hs_problem *problem);

#endif
