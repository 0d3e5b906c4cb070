#include "engine/team.h"

#include <math.h>
#include <stdbool.h>

static const double first_hold = 0.02, longest_hold = 0.5; /* s */
static const double look = 0.004;                          /* s: of a trial that does not pay */
static const double sure = 0.04;   /* s: of one that does; several time slices of a busy machine */
static const double clearly = 0.9; /* share of the time for more threads to pay; fewer: any gain */
static const double long_call = 0.005; /* s: waiting for each other costs little beside this */

struct hs_team hs_team_of(int threads)
{
    return (struct hs_team){.most = threads, .now = threads, .hold = first_hold};
}

int hs_team_threads(const struct hs_team *team)
{
    return team->tried ? team->tried : team->now;
}

/* In turn: half as many, a single one, twice as many; skips the present number. */
static int next_to_try(struct hs_team *team)
{
    const int more = 2 * team->now < team->most ? 2 * team->now : team->most;
    const int choice[] = {team->now / 2, 1, more};
    int threads = 0;
    while (threads == 0 || threads == team->now)
        threads = choice[team->turn++ % 3];
    return threads;
}

/* A choice that paid is tried again: if half of the threads did better, a quarter may, too. */
static void decide(struct hs_team *team, bool pays)
{
    team->turn -= pays;
    team->now = pays ? team->tried : team->now;
    team->hold = pays ? first_hold : fmin(2.0 * team->hold, longest_hold);
    team->tried = 0;
    team->usual = (struct hs_team_record){0};
}

static double cost(const struct hs_team_record *record)
{
    return record->seconds / (double)record->sweeps;
}

void hs_team_note(struct hs_team *team, int sweeps, double seconds)
{
    if (team->most == 1)
        return;
    struct hs_team_record *record = team->tried ? &team->trial : &team->usual;
    record->seconds += seconds;
    record->sweeps += sweeps;
    record->calls++;
    if (!team->tried) {
        if (team->usual.seconds >= team->hold &&
            team->usual.seconds < long_call * (double)team->usual.calls) {
            team->tried = next_to_try(team);
            team->trial = (struct hs_team_record){0};
        }
    } else if (team->trial.seconds >= look) {
        const double bound = team->tried > team->now ? clearly : 1.0;
        const bool pays = cost(&team->trial) < bound * cost(&team->usual);
        if (!pays || team->trial.seconds >= sure)
            decide(team, pays);
    }
}
