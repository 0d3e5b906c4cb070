/* The keys of a config's settings, and the overrides: checked against the options table. */
#ifndef HS_INPUT_CONFIG_KEYS_H
#define HS_INPUT_CONFIG_KEYS_H

#include "input/settings.h"

/* Finds the option of each setting, and reports what is wrong with them one by one. */
void hs_config_check(struct hs_settings *settings);

/* Takes "KEY=VALUE" in, checked likewise. */
void hs_config_override(const char *override, struct hs_settings *settings);

#endif
