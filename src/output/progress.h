/* Progress of a run: a bar on a terminal, an occasional plain line in a log. */
#ifndef HS_OUTPUT_PROGRESS_H
#define HS_OUTPUT_PROGRESS_H

#include "engine/observer.h"

#include <stdio.h>

/* On the stream, a bar if that is a `terminal`. Destroying the observer ends the bar's line. */
struct hs_observer *hs_progress_create(FILE *stream, bool terminal,
                                       const struct hs_problem *problem,
                                       const struct hs_plan *plan);

#endif
