#ifndef HS_ENGINE_NETWORK_SUBSTANCES_H
#define HS_ENGINE_NETWORK_SUBSTANCES_H

#include "engine/network/pass.h"

/* Finds the volume of each substance, and the held shares if one of them has sources or sinks. */
enum hs_status hs_substances_find(struct hs_pass *pass, struct hs_network *out,
                                  struct hs_error *err);

#endif
