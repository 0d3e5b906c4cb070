#include "engine/signals.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

volatile int hs_signals_stop;

/* `hard`: watched even if it was ignored, and a second one ends the program at once. The others
 * repeat while the state is saved: SIGXCPU every second, SIGHUP from shell and kernel. */
static const struct watched {
    int number;
    const char *name;
    bool hard;
} watched[] = {
    {SIGINT, "SIGINT", true},    {SIGTERM, "SIGTERM", true},  {SIGHUP, "SIGHUP", false},
    {SIGUSR1, "SIGUSR1", false}, {SIGXCPU, "SIGXCPU", false},
};
enum { WATCHED = sizeof watched / sizeof watched[0] };

static void ask_for_stop(int number)
{
    hs_signals_stop = number;
}

void hs_signals_watch(void)
{
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    for (int i = 0; i < WATCHED; i++) {
        struct sigaction before, action = {.sa_handler = ask_for_stop};
        action.sa_flags = watched[i].hard ? (int)SA_RESETHAND : SA_RESTART;
        sigemptyset(&action.sa_mask);
        if (watched[i].hard ||
            (sigaction(watched[i].number, NULL, &before) == 0 && before.sa_handler != SIG_IGN))
            sigaction(watched[i].number, &action, NULL);
    }
}

const char *hs_signals_name(int number)
{
    for (int i = 0; i < WATCHED; i++)
        if (watched[i].number == number)
            return watched[i].name;
    return "a signal";
}
