#include "input/templates.h"

#include "generated/templates.h" /* TEMPLATE_NAME, the text of configs/init/NAME.cfg */

#include <stddef.h>

const struct hs_template hs_templates[] = {
    {"block3d", "3D block with a heat source, a hot core and convection on one face",
     TEMPLATE_block3d},
    {"plate2d", "2D plate, boundary values that vary in space and time", TEMPLATE_plate2d},
    {"rod1d", "1D rod with a known solution that the run is checked against", TEMPLATE_rod1d},
    {"raw-stencil", "the textbook's 7-point sweep with coefficients of your own",
     TEMPLATE_raw_stencil},
    {"steady", "2D plate to its steady state", TEMPLATE_steady},
    {NULL, NULL, NULL},
};
