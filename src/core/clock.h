/* Time that has passed, for rates, pauses and estimates. */
#ifndef HS_CORE_CLOCK_H
#define HS_CORE_CLOCK_H

/* Seconds since some moment; never set back or forward. */
double hs_clock_now(void);

#endif
