/* What distinguishes the runs of a study: the values given by --set, as numbers where possible. */
#ifndef HS_OUTPUT_STUDY_H
#define HS_OUTPUT_STUDY_H

#include "core/problem.h"
#include "output/h5.h"
#include "output/json.h"

/* "set": {"time.end": 1.0, "grid.points": [65, 65], "initial.expression": "x"}; the last value of
 * a key that was given more than once. */
void hs_study_json(struct hs_json *json, const struct hs_problem *problem);

/* The same as attributes of a group /set; no group if nothing was set. */
void hs_study_attributes(struct hs_h5 *h5, hid_t root, const struct hs_problem *problem);

#endif
