#include "output/writer.h"

#include "core/memory.h"
#include "core/thread.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct hs_writer {
    enum hs_status (*round)(void *self, struct hs_error *err);
    void *self;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int64_t asked, taken, done; /* rounds, in this order: asked >= taken >= done */
    bool leaving;
    struct hs_error error; /* of the first that failed */
    bool told;
};

static void *work(void *argument)
{
    struct hs_writer *w = argument;
    hs_writer_lock(w);
    for (;;) {
        while (w->asked == w->done && !w->leaving)
            pthread_cond_wait(&w->changed, &w->lock);
        if (w->asked == w->done)
            break;
        const int64_t number = w->done + 1;
        hs_writer_unlock(w);
        struct hs_error error = {0};
        const enum hs_status st = w->round(w->self, &error);
        hs_writer_lock(w);
        if (st && !w->error.status) {
            hs_error_release(&w->error);
            w->error = error;
            w->error.status = st;
        } else {
            hs_error_release(&error);
        }
        w->done = number;
        w->taken = w->taken < number ? number : w->taken;
        pthread_cond_broadcast(&w->changed);
    }
    hs_writer_unlock(w);
    return NULL;
}

enum hs_status hs_writer_create(enum hs_status (*round)(void *self, struct hs_error *err),
                                void *self, struct hs_writer **out, struct hs_error *err)
{
    *out = NULL;
    struct hs_writer *w = hs_new(sizeof *w);
    w->round = round;
    w->self = self;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    const int number = hs_thread_start(&w->thread, work, w);
    if (number) {
        pthread_cond_destroy(&w->changed);
        pthread_mutex_destroy(&w->lock);
        free(w);
        return hs_error_add(err, HS_DEVICE, "no thread to write the output: %s", strerror(number));
    }
    *out = w;
    return HS_OK;
}

void hs_writer_lock(struct hs_writer *writer)
{
    pthread_mutex_lock(&writer->lock);
}

void hs_writer_unlock(struct hs_writer *writer)
{
    pthread_mutex_unlock(&writer->lock);
}

void hs_writer_hand_over(struct hs_writer *writer)
{
    hs_writer_lock(writer);
    writer->asked++;
    pthread_cond_broadcast(&writer->changed);
    hs_writer_unlock(writer);
}

void hs_writer_took(struct hs_writer *writer)
{
    hs_writer_lock(writer);
    writer->taken = writer->done + 1;
    pthread_cond_broadcast(&writer->changed);
    hs_writer_unlock(writer);
}

void hs_writer_await_taken(struct hs_writer *writer)
{
    hs_writer_lock(writer);
    while (writer->taken < writer->asked)
        pthread_cond_wait(&writer->changed, &writer->lock);
    hs_writer_unlock(writer);
}

void hs_writer_await_idle(struct hs_writer *writer)
{
    hs_writer_lock(writer);
    while (writer->done < writer->asked)
        pthread_cond_wait(&writer->changed, &writer->lock);
    hs_writer_unlock(writer);
}

bool hs_writer_idle(struct hs_writer *writer)
{
    hs_writer_lock(writer);
    const bool idle = writer->done == writer->asked;
    hs_writer_unlock(writer);
    return idle;
}

enum hs_status hs_writer_failed(struct hs_writer *writer, struct hs_error *err)
{
    hs_writer_lock(writer);
    const enum hs_status st = writer->error.status;
    if (st && !writer->told && writer->error.text)
        hs_error_add(err, st, "%s", writer->error.text);
    writer->told = writer->told || st;
    hs_writer_unlock(writer);
    return st;
}

void hs_writer_destroy(struct hs_writer *writer)
{
    if (!writer)
        return;
    hs_writer_lock(writer);
    writer->leaving = true;
    pthread_cond_broadcast(&writer->changed);
    hs_writer_unlock(writer);
    pthread_join(writer->thread, NULL);
    pthread_cond_destroy(&writer->changed);
    pthread_mutex_destroy(&writer->lock);
    hs_error_release(&writer->error);
    free(writer);
}
