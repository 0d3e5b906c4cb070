/* OpenMP's threads: how they wait for each other, and how many there are by default. */
#ifndef HS_ENGINE_THREADS_H
#define HS_ENGINE_THREADS_H

#include "core/grid.h"

/* To be called first in main. Where the user has set how threads wait, or how many there are, that
 * stands. */
void hs_threads_prepare(void);

/* How many to use for passes over the grid: `wanted`, or where that is 0 as many as are worth it.
 */
int hs_threads_for(const struct hs_grid *grid, int wanted);

#endif
