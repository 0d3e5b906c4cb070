/* Whether a file was written by the run that is to go on: by what its fields depend on. */
#ifndef HS_OUTPUT_FINGERPRINT_H
#define HS_OUTPUT_FINGERPRINT_H

#include "core/problem.h"

const char *hs_fingerprint_of(const struct hs_problem *problem);

/* HS_BAD_INPUT, with the first key that differs and what to do, if `saved` is another run's. */
enum hs_status hs_fingerprint_compare(const char *saved, const char *current, char *reason,
                                      size_t size);

#endif
