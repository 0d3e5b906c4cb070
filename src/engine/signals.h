/*
 * Signals to a command that has work to save.
 *
 * SIGINT, SIGTERM, SIGHUP (the terminal is gone), SIGUSR1 and SIGXCPU (sent by a scheduler and by
 * the kernel when time is nearly up) ask for an end with the state saved. SIGPIPE is ignored: a
 * lost reader does not concern the work. SIGXFSZ is ignored too: the write to a file that becomes
 * too large then fails with an error.
 */
#ifndef HS_ENGINE_SIGNALS_H
#define HS_ENGINE_SIGNALS_H

/* From now on the signals above ask for a stop. A second SIGINT or a second SIGTERM ends the
 * program at once. SIGHUP, SIGUSR1 and SIGXCPU stay ignored if they were (nohup). */
void hs_signals_watch(void);

/* Number of the signal that asked for a stop; 0 while none has. */
extern volatile int hs_signals_stop;

/* "SIGTERM"; "a signal" for one that is not watched. */
const char *hs_signals_name(int number);

#endif
