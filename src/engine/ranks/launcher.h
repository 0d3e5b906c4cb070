/* What launchers of MPI programs tell the processes that they start. */
#ifndef HS_ENGINE_RANKS_LAUNCHER_H
#define HS_ENGINE_RANKS_LAUNCHER_H

#include "core/status.h"

/* For a process that knows of no others: HS_BAD_INPUT if it was started as one of several. The
 * first of them has the message, with `remedy` in it. */
enum hs_status hs_launcher_check(const char *remedy, struct hs_error *err);

#endif
