/*
 * Colour maps: see the header.
 *
 * inferno, viridis, magma and plasma: Nathaniel J. Smith, Stefan van der Walt and Eric Firing,
 * 2015, placed in the public domain (CC0); every eighth or so of their 256 colours, which keeps all
 * within 4/255 of them. coolwarm: calculated after Kenneth Moreland, Diverging Color Maps for
 * Scientific Visualization (2009), from rgb(59, 76, 192) to rgb(180, 4, 38). gray: black to white.
 */
#include "output/picture_maps.h"

#include <math.h>
#include <string.h>

/* clang-format off */
static const uint32_t inferno[] = {
    0x000004, 0x040312, 0x0B0724, 0x150B37, 0x210C4A, 0x2E0A5A, 0x3C0965, 0x4A0C6B, 0x57106D,
    0x63146E, 0x70196E, 0x7D1E6D, 0x89226A, 0x962766, 0xA32B61, 0xAF315C, 0xBB3755, 0xC63E4D,
    0xD14644, 0xDB4F3B, 0xE35932, 0xEB6528, 0xF1711E, 0xF67F14, 0xF98D0A, 0xFB9C06, 0xFCAB0F,
    0xFBBA1F, 0xF9CA32, 0xF5D949, 0xF2E865, 0xF3F586, 0xFCFFA4,
};
static const uint32_t viridis[] = {
    0x440154, 0x470D60, 0x48186A, 0x482374, 0x472D7B, 0x453681, 0x424086, 0x3F4989, 0x3B528B,
    0x375A8D, 0x33638D, 0x2F6A8E, 0x2C728E, 0x297A8E, 0x26818E, 0x23898E, 0x21908C, 0x1F988B,
    0x1F9F88, 0x21A685, 0x28AE80, 0x31B57B, 0x3EBC74, 0x4CC26C, 0x5DC963, 0x6ECE58, 0x82D34C,
    0x96D83F, 0xABDC32, 0xC0DF24, 0xD5E21A, 0xEAE51A, 0xFDE725,
};
static const uint32_t magma[] = {
    0x000004, 0x030311, 0x0A0822, 0x130D33, 0x1D1146, 0x28115A, 0x36106A, 0x430F76, 0x50127C,
    0x5D177F, 0x691C81, 0x762181, 0x822681, 0x8F2A81, 0x9C2E7F, 0xA9327D, 0xB63779, 0xC33B75,
    0xCF4170, 0xDB486A, 0xE65163, 0xEE5C5E, 0xF5695C, 0xF9785D, 0xFB8761, 0xFD9668, 0xFEA571,
    0xFEB47B, 0xFEC387, 0xFED194, 0xFDE0A2, 0xFCEEB0, 0xFCFDBF,
};
static const uint32_t plasma[] = {
    0x0D0887, 0x220690, 0x310596, 0x3F049C, 0x4C02A1, 0x5901A5, 0x6600A7, 0x7201A8, 0x7E03A8,
    0x8909A6, 0x9511A2, 0x9F1A9C, 0xA92396, 0xB22C8E, 0xBB3587, 0xC33E80, 0xCB4778, 0xD25071,
    0xD9596A, 0xE06263, 0xE66C5C, 0xEB7555, 0xF07F4F, 0xF48A48, 0xF89441, 0xFB9F3A, 0xFDAB33,
    0xFEB72D, 0xFDC328, 0xFCD025, 0xF9DD25, 0xF5EB27, 0xF0F921,
};
static const uint32_t coolwarm[] = {
    0x3B4CC0, 0x445ACC, 0x4E68D7, 0x5875E1, 0x6282EA, 0x6C8EF1, 0x779AF7, 0x82A5FB, 0x8DB0FE,
    0x98B9FF, 0xA3C2FF, 0xAEC9FD, 0xB8D0F9, 0xC2D5F4, 0xCCD9EE, 0xD5DBE6, 0xDDDDDD, 0xE5D8D1,
    0xECD3C6, 0xF1CCB9, 0xF5C4AD, 0xF7BBA0, 0xF7B194, 0xF7A687, 0xF49A7B, 0xF18D6F, 0xEC7F63,
    0xE57057, 0xDE614C, 0xD55042, 0xCB3E38, 0xC0282F, 0xB40426,
};
static const uint32_t gray[] = {0x000000, 0xFFFFFF};
/* clang-format on */

#define MAP(map)                                                                                   \
    {                                                                                              \
        .name = #map, .colour = map, .count = sizeof(map) / sizeof *(map)                          \
    }
const struct hs_colour_map hs_colour_maps[] = {
    MAP(inferno), MAP(viridis), MAP(magma), MAP(plasma), MAP(coolwarm), MAP(gray), {.name = NULL}};
#undef MAP

const struct hs_colour hs_colour_of_nan = {160, 160, 160};

const struct hs_colour_map *hs_colour_map_find(const char *name)
{
    for (const struct hs_colour_map *map = hs_colour_maps; map->name; map++)
        if (strcmp(map->name, name) == 0)
            return map;
    return NULL;
}

struct hs_colour hs_colour_map_at(const struct hs_colour_map *map, double place)
{
    if (isnan(place))
        return hs_colour_of_nan;
    const double at = fmax(0, fmin(1, place)) * (map->count - 1);
    const int i = (int)fmin(floor(at), map->count - 2);
    uint8_t channel[3];
    for (int c = 0; c < 3; c++) {
        const int shift = 16 - 8 * c;
        const double a = map->colour[i] >> shift & 0xFF, b = map->colour[i + 1] >> shift & 0xFF;
        channel[c] = (uint8_t)lrint(a + (at - i) * (b - a));
    }
    return (struct hs_colour){channel[0], channel[1], channel[2]};
}
