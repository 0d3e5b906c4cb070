/* OpenMP threads: how they wait for each other, and how many there are by default. */
#ifndef HS_ENGINE_THREADS_H
#define HS_ENGINE_THREADS_H

#include "core/problem.h"

/* To be called first in main. Keeps what the user has set of how threads wait, or of their
 * number. */
void hs_threads_prepare(void);

/* Threads for passes over the grid: solver.threads, or if that is 0 as many as pay. */
int hs_threads_of(const struct hs_problem *problem);

#endif
