/* Warnings about what a case says but hardly means, such as a wrong unit. Nothing is refused. */
#ifndef HS_ENGINE_DOUBTS_H
#define HS_ENGINE_DOUBTS_H

#include "core/status.h"
#include "engine/plan.h"

enum { HS_DOUBTS = 14, HS_DOUBT_TEXT = 400 };

struct hs_doubts {
    char text[HS_DOUBTS][HS_DOUBT_TEXT]; /* "case.cfg:3: material.density = 7.8: ..." */
    int count;
};

/* Uses only the steps of `plan`. */
void hs_doubts_find(const struct hs_problem *problem, const struct hs_plan *plan,
                    struct hs_doubts *out);

/* Says the doubts of the config reader (hs_config_how), and then those found here. */
void hs_doubts_say(const struct hs_error *read, const struct hs_doubts *found,
                   void (*say)(void *self, const char *text), void *self);

#endif
