/*
 * Status codes and the error report.
 *
 * Every function that can fail returns an hs_status and, on failure, adds one
 * message or more to the hs_error it was given. Only main prints and exits; the
 * status is the exit code. A message names file, line, key, value and remedy.
 */
#ifndef HS_CORE_STATUS_H
#define HS_CORE_STATUS_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HS_PRINTF(text, first) __attribute__((format(printf, text, first)))

enum hs_status {
    HS_OK = 0,
    HS_FAILED_CHECK = 1,  /* the answer failed its check: error bound, divergence */
    HS_BAD_INPUT = 2,     /* bad command line or config */
    HS_IO = 3,            /* reading or writing failed */
    HS_DEVICE = 4,        /* device or memory */
    HS_INTERRUPTED = 130, /* stopped by a signal, state saved */
};

/* If the call fails, returns its status from the function, which has nothing left to release: what
 * it has taken belongs to a state, and is released with that. */
#define HS_TRY(call)                                                                               \
    do {                                                                                           \
        const enum hs_status hs_status_of_call = (call);                                           \
        if (hs_status_of_call)                                                                     \
            return hs_status_of_call;                                                              \
    } while (0)

enum { HS_ERROR_MOST = 50 }; /* mistakes that are listed; the others are only counted */

/* Messages in the order they were added, one per line. The first status wins. Begins as zeros. */
struct hs_error {
    enum hs_status status;
    size_t count;    /* messages */
    size_t mistakes; /* messages with HS_BAD_INPUT, at most HS_ERROR_MOST */
    size_t more;     /* mistakes that are not listed */
    char *text;      /* NUL-terminated, owned; NULL while there is none */
    size_t length;
};

void hs_error_release(struct hs_error *err); /* as it began */

/* Adds a message (no trailing newline needed) and returns `status`, so that callers can
 * `return hs_error_add(err, HS_IO, "%s: cannot open: %s", path, strerror(errno));`
 * With HS_OK it is a warning. Where no message is wanted, `err` is NULL. */
enum hs_status hs_error_add(struct hs_error *err, enum hs_status status, const char *format, ...)
    HS_PRINTF(3, 4);

/* Adds a warning about what `place` has set, in one line: the place may have line ends. */
void hs_error_warn(struct hs_error *err, const char *place, const char *format, ...)
    HS_PRINTF(3, 4);

/* Adds all messages of `other` with the status of `other`. */
void hs_error_join(struct hs_error *err, const struct hs_error *other);

/* The only message, without the end of its line; "" if there is none. */
const char *hs_error_reason(struct hs_error *err);

/* Whether further mistakes will not be listed, so that no remedies need be found for them. */
bool hs_error_is_full(const struct hs_error *err);

#ifdef __cplusplus
}
#endif

#endif
