/*
 * How many of its threads a run sweeps with: as many as pay.
 *
 * If other programs want the same cores, threads wait at the end of each sweep for one that is not
 * running, and two make less progress than one. So now and then half as many, one alone, or twice
 * as many are tried for some milliseconds, and taken if faster; more only if clearly faster.
 * Results do not depend on the number of threads, to the bit. The caller supplies the clock.
 */
#ifndef HS_ENGINE_TEAM_H
#define HS_ENGINE_TEAM_H

#include <stdint.h>

/* Timing with one number of threads. */
struct hs_team_record {
    double seconds;
    int64_t sweeps, calls;
};

struct hs_team {
    int most, now;
    int tried;                          /* number on trial instead of `now`; 0: no trial */
    unsigned turn;                      /* which number is tried next */
    double hold;                        /* s of sweeps until the next trial */
    struct hs_team_record usual, trial; /* since the last decision */
};

struct hs_team hs_team_of(int threads);

/* Threads for the next call. */
int hs_team_threads(const struct hs_team *team);

/* Records a call of the kernel: its sweeps and its duration. */
void hs_team_note(struct hs_team *team, int sweeps, double seconds);

#endif
