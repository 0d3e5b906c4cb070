/* Included by every unit test: cmocka and the headers that it needs, in the required order. */
#ifndef HS_TEST_H
#define HS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus /* cmocka.h lacks extern "C" */
extern "C" {
#endif
#include <cmocka.h>
#ifdef __cplusplus
}
#endif

#include "core/status.h"

#include <string.h>

/* Few tests use cmocka's state, and stand-in functions rarely use all of their parameters. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* cmocka 1.1.5 compares only floats, not doubles. Fails on NaN. */
#define assert_near(a, b, tolerance)                                                               \
    do {                                                                                           \
        const double a_ = (a), b_ = (b), t_ = (tolerance);                                         \
        if (!(a_ - b_ <= t_ && b_ - a_ <= t_))                                                     \
            fail_msg("%s = %.17g, %s = %.17g, apart by more than %g", #a, a_, #b, b_, t_);         \
    } while (0)

/* A call that must succeed. It uses the macro's `&err`; the message says what failed. */
#define assert_ok(call) assert_ok_of(#call, call)
#define assert_ok_of(what, call)                                                                   \
    do {                                                                                           \
        struct hs_error err = {.status = HS_OK};                                                   \
        if (call)                                                                                  \
            fail_msg("%s: %s", what, err.text ? err.text : "no message");                          \
        hs_error_release(&err);                                                                    \
    } while (0)

/* A call that must fail with the status `with` and `words` in its message. */
#define assert_fails(call, with, words)                                                            \
    do {                                                                                           \
        struct hs_error err = {.status = HS_OK};                                                   \
        assert_int_equal(call, with);                                                              \
        if (!strstr(err.text ? err.text : "", words))                                              \
            fail_msg("%s: \"%s\" is not in: %s", #call, words, err.text ? err.text : "");          \
        hs_error_release(&err);                                                                    \
    } while (0)

#endif
