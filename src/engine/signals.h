/*
 * What signals ask of a command that has work to save.
 *
 * SIGINT, SIGTERM, SIGHUP (the terminal is gone), SIGUSR1 and SIGXCPU (a scheduler's and the
 * kernel's word that time is nearly up) ask for an end with the state saved. SIGPIPE is ignored:
 * nobody listens any more, which does not concern the work; and SIGXFSZ: the write of a file that
 * becomes too large fails, and says so.
 */
#ifndef HS_ENGINE_SIGNALS_H
#define HS_ENGINE_SIGNALS_H

/* From now on the signals above ask for a stop. A second SIGINT, and a second SIGTERM, ends the
 * program at once. SIGHUP, SIGUSR1 and SIGXCPU stay ignored where they were (nohup). */
void hs_signals_watch(void);

/* Only SIGPIPE is ignored, for a command whose work outlives its readers. */
void hs_signals_ignore_pipe(void);

/* Number of the signal that asked for a stop; 0 while none has. */
extern volatile int hs_signals_stop;

/* "SIGTERM"; "a signal" for one that is not watched. */
const char *hs_signals_name(int number);

#endif
