/* What a run is known by: the keys that its fields depend on, and not how long, how often or where
 * to. */
#ifndef HS_INPUT_FINGERPRINT_H
#define HS_INPUT_FINGERPRINT_H

#include "input/settings.h"

/*
 * A line "KEY = VALUE" for each key that was given and is not loose (input/options.h), sorted by
 * key; numbers in one form, defaults left out, so that it does not matter how the config says it.
 * Allocated; NULL without memory.
 */
char *hs_settings_fingerprint(const struct hs_settings *settings);

#endif
