/*
 * A thread that does one round of work after another, so that its owner need not wait for a disk.
 *
 * The owner prepares what a round takes, hands it over, and may prepare the next as soon as the
 * round has taken it: so two rounds are under way at most, one of which waits. All but took is for
 * the owner's thread; the lock is for both.
 */
#ifndef HS_OUTPUT_WRITER_H
#define HS_OUTPUT_WRITER_H

#include "core/status.h"

#include <stdbool.h>

struct hs_writer;

/* `round` does one; its failure is kept, and later rounds are done all the same. HS_DEVICE where
 * no thread is to be had. Signals are left to other threads. */
enum hs_status hs_writer_create(enum hs_status (*round)(void *self, struct hs_error *err),
                                void *self, struct hs_writer **out, struct hs_error *err);

/* Held for what the owner and a round both touch. */
void hs_writer_lock(struct hs_writer *writer);
void hs_writer_unlock(struct hs_writer *writer);

void hs_writer_hand_over(struct hs_writer *writer); /* the one before was taken */
void hs_writer_took(struct hs_writer *writer);      /* by the round itself; or when it returns */
void hs_writer_await_taken(struct hs_writer *writer);
void hs_writer_await_idle(struct hs_writer *writer);
bool hs_writer_idle(struct hs_writer *writer);

/* The status of the first round that failed; its messages are added to `err` the first time. */
enum hs_status hs_writer_failed(struct hs_writer *writer, struct hs_error *err);

/* Accepts NULL. What was handed over is done first. */
void hs_writer_destroy(struct hs_writer *writer);

#endif
