/* Draws a roofline: kernels below the ceilings of their device, on logarithmic axes. */
#ifndef HS_OUTPUT_PICTURES_ROOFLINE_H
#define HS_OUTPUT_PICTURES_ROOFLINE_H

#include "engine/measure/roofline.h"

/* PNG, SVG or PDF, by the ending of `path`. HS_IO if it cannot be written, HS_FAILED_CHECK if no
 * kernel was timed. */
enum hs_status hs_picture_roofline(const struct hs_roofline *roofline, const char *title,
                                   const char *subtitle, const char *path, struct hs_error *err);

#endif
