/* Progress: a bar on a terminal, a plain line now and then in a log. Writes to stderr. */
#ifndef HS_OUTPUT_PROGRESS_H
#define HS_OUTPUT_PROGRESS_H

#include "engine/observer.h"

#include <stdio.h>

struct hs_progress;

struct hs_progress *hs_progress_create(const struct hs_problem *problem,
                                       const struct hs_plan *plan);
/* The same on any stream, as a bar if it is a terminal. */
struct hs_progress *hs_progress_create_on(FILE *stream, bool terminal,
                                          const struct hs_problem *problem,
                                          const struct hs_plan *plan);

struct hs_observer *hs_progress_observer(struct hs_progress *progress);
void hs_progress_destroy(struct hs_progress *progress); /* accepts NULL; ends the bar's line */

#endif
