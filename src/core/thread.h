/* A thread of the program's own. */
#ifndef HS_CORE_THREAD_H
#define HS_CORE_THREAD_H

#include <pthread.h>

/* 0, or an errno. Signals are left to other threads: a handler runs in whatever thread takes the
 * signal, and the main one shall stop waiting. */
int hs_thread_start(pthread_t *thread, void *(*work)(void *argument), void *argument);

#endif
