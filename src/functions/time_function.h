/* Functions of time that act on a body (core/wall.h). */
#ifndef HS_FUNCTIONS_TIME_FUNCTION_H
#define HS_FUNCTIONS_TIME_FUNCTION_H

#include "core/network.h"
#include "core/wall.h"

#ifdef __cplusplus
extern "C" {
#endif

double hs_time_function_at(const struct hs_time_function *function, double t);
bool hs_time_function_varies(const struct hs_time_function *function); /* in time */

/* The sum of functions times their weights at time t. */
double hs_terms_at(const struct hs_terms *terms, const struct hs_time_function *functions,
                   double t);

#ifdef __cplusplus
}
#endif

#endif
