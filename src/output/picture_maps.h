/* Colour maps: perceptually even, from a value's place in the range to a colour. */
#ifndef HS_OUTPUT_PICTURE_MAPS_H
#define HS_OUTPUT_PICTURE_MAPS_H

#include <stdint.h>

struct hs_colour {
    uint8_t r, g, b;
};

struct hs_colour_map {
    const char *name;
    const uint32_t *colour; /* 0xRRGGBB at even distances, linear between them */
    int count;
};

extern const struct hs_colour_map hs_colour_maps[]; /* ends with a NULL name; the default first */

const struct hs_colour_map *hs_colour_map_find(const char *name); /* NULL if unknown */

extern const struct hs_colour hs_colour_of_nan;

/* place: 0 the lower end of the range, 1 the upper; beyond them the ends' colours; NaN: its own. */
struct hs_colour hs_colour_map_at(const struct hs_colour_map *map, double place);

#endif
