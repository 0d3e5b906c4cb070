/*
 * A thread that does rounds of work one after another, so that its owner need not wait for a disk.
 *
 * The owner prepares the input of a round, hands it over, and may prepare the next input as soon as
 * the round has taken its own. So at most two rounds are pending, one of them waiting. Only the
 * owner's thread makes these calls, except took; both threads use the lock.
 */
#ifndef HS_OUTPUT_WRITER_H
#define HS_OUTPUT_WRITER_H

#include "core/status.h"

#include <stdbool.h>

struct hs_writer;

/* `round` does one round. The first failure is kept; later rounds still run. HS_DEVICE if no thread
 * can be started. The thread takes no signals. */
enum hs_status hs_writer_create(enum hs_status (*round)(void *self, struct hs_error *err),
                                void *self, struct hs_writer **out, struct hs_error *err);

/* To be held while accessing data that the owner and a round share. */
void hs_writer_lock(struct hs_writer *writer);
void hs_writer_unlock(struct hs_writer *writer);

void hs_writer_hand_over(struct hs_writer *writer); /* only when the previous input was taken */
void hs_writer_took(struct hs_writer *writer);      /* called by the round; implied by its return */
void hs_writer_await_taken(struct hs_writer *writer);
void hs_writer_await_idle(struct hs_writer *writer);
bool hs_writer_idle(struct hs_writer *writer);

/* The status of the first round that failed; the first call adds its messages to `err`. */
enum hs_status hs_writer_failed(struct hs_writer *writer, struct hs_error *err);

/* Finishes the rounds that were handed over first. Accepts NULL. */
void hs_writer_destroy(struct hs_writer *writer);

#endif
