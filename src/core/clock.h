/* Elapsed time, for rates, pauses and estimates. */
#ifndef HS_CORE_CLOCK_H
#define HS_CORE_CLOCK_H

/* Seconds since an arbitrary moment, on a monotonic clock. */
double hs_clock_now(void);

#endif
