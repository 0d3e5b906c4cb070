/* OpenMP's threads: how they wait for each other, and how many there are by default. */
#ifndef HS_ENGINE_THREADS_H
#define HS_ENGINE_THREADS_H

/*
 * To be called first in main. May begin the program anew, once, with OMP_WAIT_POLICY and
 * GOMP_SPINCOUNT set; where the user has set how threads wait, or how many there are, that stands.
 */
void hs_threads_prepare(char **argv);

#endif
