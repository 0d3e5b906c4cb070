/* Checks the keys of a config's settings and its overrides against the options table. */
#ifndef HS_INPUT_CONFIG_KEYS_H
#define HS_INPUT_CONFIG_KEYS_H

#include "input/settings.h"

/* Finds the options of the settings from `first` on and reports each error. Settings inside an
 * unknown or bad one are skipped. */
void hs_config_check(struct hs_settings *settings, size_t first);

/* Adds the override "KEY=VALUE", checked likewise. */
void hs_config_override(const char *override, struct hs_settings *settings);

#endif
