/* Starting a thread. */
#ifndef HS_CORE_THREAD_H
#define HS_CORE_THREAD_H

#include <pthread.h>

/* Returns 0 or an errno. The new thread blocks all signals: a handler runs in the thread that
 * receives the signal, and this must be the main thread, whose waiting it ends. */
int hs_thread_start(pthread_t *thread, void *(*work)(void *argument), void *argument);

#endif
