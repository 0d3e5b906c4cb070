#include "engine/threads.h"
#include "core/machine.h"
#include "core/round.h"

#include <limits.h>
#include <omp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- how they wait --------------------------------------------------------------------------- */

__attribute__((no_sanitize("address"))) static char *look_up(const char *name)
{
    const size_t length = strlen(name);
    for (char **entry = environ; entry && *entry; entry++)
        if (strncmp(*entry, name, length) == 0 && (*entry)[length] == '=')
            return *entry + length + 1;
    return NULL;
}

static bool user_says_how(void)
{
    return look_up("OMP_WAIT_POLICY") || look_up("GOMP_SPINCOUNT") || look_up("KMP_BLOCKTIME");
}

/*
 * Threads wait for each other by spinning. If the machine is busy with other work, that keeps the
 * awaited thread from running; but threads that sleep at once take longer to wake than a sweep of a
 * small grid takes. So they spin for about as long as waking would take, then sleep. libgomp reads
 * this setting when it is loaded, before main and any code of ours, and only from the environment.
 * So this function is the getenv that libgomp calls, like everybody here; unless the user has set
 * how threads wait, it returns our number of spins.
 */
__attribute__((no_sanitize("address"))) char *getenv(const char *name)
{
    static char spins[] = "2000";
    return strcmp(name, "GOMP_SPINCOUNT") == 0 && !user_says_how() ? spins : look_up(name);
}

/* ---- clang's library ----------------------------------------------------------------------------
 *
 * It reads the environment, counts processors and binds threads when it is first used. But if
 * another library needs libgomp too, and the user has set how threads are bound (OMP_PROC_BIND,
 * OMP_PLACES, GOMP_CPU_AFFINITY), libgomp may have bound the first thread by then. So the
 * processors given to the process are looked up before any library starts; by a system call, since
 * nothing else is ready then.
 */

extern int kmp_get_blocktime(void) __attribute__((weak)); /* only clang's has it */

static struct {
    unsigned long mask[1024]; /* 65536 processors */
    long bytes;               /* of it that the kernel filled in; 0: not known */
} given;

__attribute__((no_sanitize("address"))) static void look_at_processors(void)
{
    given.bytes = syscall(SYS_sched_getaffinity, 0, sizeof given.mask, given.mask);
}

__attribute__((section(".preinit_array"),
               used)) static void (*before_libraries)(void) = look_at_processors;

static void prepare_clangs(void)
{
    if (given.bytes > 0)
        syscall(SYS_sched_setaffinity, 0, given.bytes, given.mask);
    if (!user_says_how())
        setenv("OMP_WAIT_POLICY", "passive", 1);
}

/* ---- how many there are ---------------------------------------------------------------------- */

/* Threads beyond a container's share of processor time only make the others wait until its next
 * period. And the library counts threads that its own limit does not let it start. */
static void bound_their_number(void)
{
    const int share = getenv("OMP_NUM_THREADS") ? INT_MAX : hs_machine_processors("");
    const int most =
        getenv("OMP_THREAD_LIMIT") ? (int)hs_smaller(share, omp_get_thread_limit()) : share;
    if (most < INT_MAX && most < omp_get_max_threads())
        omp_set_num_threads(most);
}

void hs_threads_prepare(void)
{
    if (kmp_get_blocktime)
        prepare_clangs();
    bound_their_number();
}

/* As many threads as the machine has, but each with at least some 50 us of work per sweep. Two may
 * gain on fewer nodes if both cores are idle. If other programs want the cores too, two are
 * far slower than one, since in every sweep each waits until the other is given its core. */
int hs_threads_of(const struct hs_problem *problem)
{
    enum { LEAST_NODES = 65536 };
    const int wanted = problem->solver.threads;
    const int64_t *points = problem->grid.points; /* their product may overflow */
    const double worth =
        (double)points[HS_X] * (double)points[HS_Y] * (double)points[HS_Z] / LEAST_NODES;
    const int most = omp_get_max_threads();
    return wanted > 0 ? wanted : worth < 1.0 ? 1 : worth < most ? (int)worth : most;
}
