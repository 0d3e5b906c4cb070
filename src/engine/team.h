/*
 * How many of its threads a run sweeps with: as many as pay.
 *
 * Where other programs want the same cores, threads wait at the end of each sweep for one that is
 * not running, and two make less than one. So fewer (half as many, or twice as many again) are
 * tried for some milliseconds now and then, and taken where that is clearly faster. Bits do not
 * depend on the number of threads. The clock is the caller's.
 */
#ifndef HS_ENGINE_TEAM_H
#define HS_ENGINE_TEAM_H

#include <stdint.h>

/* Of so many threads. */
struct hs_team_record {
    double seconds;
    int64_t sweeps, calls;
};

struct hs_team {
    int most, now;
    int tried;                          /* for the moment, beside `now`; 0: nothing is */
    unsigned turn;                      /* of what is tried next */
    double hold;                        /* s of sweeps until the next trial */
    struct hs_team_record usual, trial; /* since the last decision */
};

struct hs_team hs_team_of(int threads);

/* How many the next call takes. */
int hs_team_threads(const struct hs_team *team);

/* What it took: a call of the kernel, of so many sweeps. */
void hs_team_note(struct hs_team *team, int sweeps, double seconds);

#endif
