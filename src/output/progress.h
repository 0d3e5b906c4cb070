/* Progress: a bar on a terminal, a plain line now and then in a log. Writes to stderr. */
#ifndef HS_OUTPUT_PROGRESS_H
#define HS_OUTPUT_PROGRESS_H

#include "engine/observer.h"

#include <stdio.h>

/* Destroying it ends the bar's line. */
struct hs_observer *hs_progress_create(const struct hs_problem *problem,
                                       const struct hs_plan *plan);

/* The same on any stream, as a bar if it is a terminal. */
struct hs_observer *hs_progress_create_on(FILE *stream, bool terminal,
                                          const struct hs_problem *problem,
                                          const struct hs_plan *plan);

#endif
