/* Describes a body of several materials in words. */
#ifndef HS_OUTPUT_BODY_TEXT_H
#define HS_OUTPUT_BODY_TEXT_H

#include "core/problem.h"
#include "output/json.h"

/* "3 materials; 861 nodes, 41 of them distinct, stored as 1-byte indices" */
void hs_body_text(const struct hs_problem *problem);

/* Material n: "copper: 0.0012 m^3, 10.7 kg". This and hs_body_json also take a body of one material
 * that the stencil handles (problem->plain). */
void hs_body_material_text(const struct hs_problem *problem, int n);

/* The array "materials". */
void hs_body_json(struct hs_json *json, const struct hs_problem *problem);

#endif
