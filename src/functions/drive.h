/* Functions of time that act on a body (core/wall.h). */
#ifndef HS_FUNCTIONS_DRIVE_H
#define HS_FUNCTIONS_DRIVE_H

#include "core/network.h"
#include "core/wall.h"

#ifdef __cplusplus
extern "C" {
#endif

double hs_drive_at(const struct hs_drive *drive, double t);
bool hs_drive_varies(const struct hs_drive *drive); /* in time */

/* The sum of a forcing's drives times their weights at time t, in W; K of a prescribed node. */
double hs_forcing_at(const struct hs_forcing *forcing, const struct hs_drive *drives, double t);

#ifdef __cplusplus
}
#endif

#endif
