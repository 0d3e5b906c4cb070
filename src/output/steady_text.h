/* Texts about the search for a steady state, for the summary and messages. */
#ifndef HS_OUTPUT_STEADY_TEXT_H
#define HS_OUTPUT_STEADY_TEXT_H

#include "engine/steady.h"

#include <stddef.h>

enum { HS_STEADY_TEXT = 256 };

/* "about 2.2e-06 K from the steady state, at most 4.5e-06 K", or why the distance is not known. */
void hs_steady_say_distance(const struct hs_steady *steady, const struct hs_problem *problem,
                            char *out, size_t size);

/* What to do about a tolerance that was not reached at `sweep`: "about 4810 more sweeps are
 * needed: continue with --resume --set time.sweeps=5900". */
void hs_steady_say_remedy(const struct hs_steady *steady, const struct hs_problem *problem,
                          const struct hs_plan *plan, int64_t sweep, char *out, size_t size);

#endif
