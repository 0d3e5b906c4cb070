#include "engine/threads.h"
#include "core/machine.h"

#include <limits.h>
#include <omp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * The processors that the process was given. Where the user has said how threads are bound
 * (OMP_PROC_BIND, OMP_PLACES, GOMP_CPU_AFFINITY), libgomp binds the first of them to a place when
 * it is loaded; what is begun anew after that would see this place alone, and have one thread. So
 * they are looked at before any library begins. By system calls: nothing else is ready then, which
 * goes for the address sanitizer too.
 */
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

/* True if they are as they were given, or could be given back. */
static bool unbind(void)
{
    static unsigned long now[sizeof given.mask / sizeof *given.mask];
    const long bytes = syscall(SYS_sched_getaffinity, 0, sizeof now, now);
    if (given.bytes <= 0 || bytes != given.bytes)
        return false;
    return memcmp(now, given.mask, (size_t)bytes) == 0 ||
           syscall(SYS_sched_setaffinity, 0, bytes, given.mask) == 0;
}

/* Only clang's library has it. That one counts and binds when it is first used, and libgomp may be
 * there besides, for another library's sake, and have bound the first thread by then. */
extern int kmp_get_blocktime(void) __attribute__((weak));

/*
 * Threads wait for each other by spinning, which on a machine that is busy with other work keeps
 * the thread that they wait for from running; asleep at once, they take longer to wake than a sweep
 * of a small grid takes. So they look for about as long as waking would take, then sleep. How they
 * wait is read from the environment when the library is loaded, before main: so the program begins
 * anew, once, unless the user has said how.
 */
static void wait_without_spinning(char **argv)
{
    if (getenv("OMP_WAIT_POLICY") || getenv("GOMP_SPINCOUNT") || getenv("KMP_BLOCKTIME"))
        return;
    char path[4096]; /* by its own name, which is what others see of a process */
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0 || !unbind())
        return;
    path[length] = '\0';
    if (setenv("OMP_WAIT_POLICY", "passive", 1) == 0 && setenv("GOMP_SPINCOUNT", "2000", 1) == 0)
        execv(path, argv); /* where that fails, they spin */
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

/* Threads beyond the share of processor time that a container has only make the others wait until
 * its next period. And the library counts threads that its own limit will not let it start. */
static void bound_their_number(void)
{
    const int share = getenv("OMP_NUM_THREADS") ? INT_MAX : hs_machine_processors("");
    const int most = getenv("OMP_THREAD_LIMIT") ? smaller(share, omp_get_thread_limit()) : share;
    if (most < INT_MAX && most < omp_get_max_threads())
        omp_set_num_threads(most);
}

void hs_threads_prepare(char **argv)
{
    wait_without_spinning(argv);
    if (kmp_get_blocktime)
        unbind();
    bound_their_number();
}

/* As many threads as the machine has, but none with less than some 50 us of work a sweep. Two may
 * gain on fewer nodes where both cores are idle; where others want them too, two had a tenth to a
 * fifth of the rate of one (33^3 to 97x65x17, the demo case's walls), since each waits for the
 * other to be given its core, sweep by sweep. */
int hs_threads_for(const struct hs_grid *grid, int wanted)
{
    enum { LEAST_NODES = 65536 };
    const int64_t *points = grid->points; /* their product may be no integer */
    const double worth =
        (double)points[HS_X] * (double)points[HS_Y] * (double)points[HS_Z] / LEAST_NODES;
    const int most = omp_get_max_threads();
    return wanted > 0 ? wanted : worth < 1.0 ? 1 : worth < most ? (int)worth : most;
}
