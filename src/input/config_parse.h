/* From text to settings: libconfig's tree and the overrides, flattened and checked key by key. */
#ifndef HS_INPUT_CONFIG_PARSE_H
#define HS_INPUT_CONFIG_PARSE_H

#include "input/config_text.h"
#include "input/settings.h"

/* Both report all they find into the settings' error and return its first status, if any. The
 * text's files must outlive the settings. */
enum hs_status hs_config_parse(const struct hs_config_text *text, struct hs_settings *settings);
enum hs_status hs_config_override(const char *override, struct hs_settings *settings);

#endif
