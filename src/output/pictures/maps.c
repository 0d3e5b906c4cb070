/*
 * inferno, viridis, magma and plasma: Nathaniel J. Smith, Stefan van der Walt and Eric Firing,
 * 2015, placed in the public domain (CC0); every 16th of their 256 colours; interpolation between
 * them is within 8/255. coolwarm: after Kenneth Moreland, Diverging Color Maps for Scientific
 * Visualization (2009), from rgb(59, 76, 192) to rgb(180, 4, 38). gray: black to white.
 */
#include "output/pictures/canvas.h"

#include <math.h>
#include <stddef.h>

/* clang-format off */
const struct hs_colour_map hs_colour_maps[] = {
    {"inferno", 17, {
        0x000004, 0x0B0724, 0x210C4A, 0x3C0965, 0x57106D, 0x70196E, 0x89226A, 0xA32B61, 0xBB3755,
        0xD14644, 0xE35932, 0xF1711E, 0xF98D0A, 0xFCAB0F, 0xF9CA32, 0xF2E865, 0xFCFFA4}},
    {"viridis", 17, {
        0x440154, 0x48186A, 0x472D7B, 0x424086, 0x3B528B, 0x33638D, 0x2C728E, 0x26818E, 0x21908C,
        0x1F9F88, 0x28AE80, 0x3EBC74, 0x5DC963, 0x82D34C, 0xABDC32, 0xD5E21A, 0xFDE725}},
    {"magma", 17, {
        0x000004, 0x0A0822, 0x1D1146, 0x36106A, 0x50127C, 0x691C81, 0x822681, 0x9C2E7F, 0xB63779,
        0xCF4170, 0xE65163, 0xF5695C, 0xFB8761, 0xFEA571, 0xFEC387, 0xFDE0A2, 0xFCFDBF}},
    {"plasma", 17, {
        0x0D0887, 0x310596, 0x4C02A1, 0x6600A7, 0x7E03A8, 0x9511A2, 0xA92396, 0xBB3587, 0xCB4778,
        0xD9596A, 0xE66C5C, 0xF07F4F, 0xF89441, 0xFDAB33, 0xFDC328, 0xF9DD25, 0xF0F921}},
    {"coolwarm", 17, {
        0x3B4CC0, 0x4E68D7, 0x6282EA, 0x779AF7, 0x8DB0FE, 0xA3C2FF, 0xB8D0F9, 0xCCD9EE, 0xDDDDDD,
        0xECD3C6, 0xF5C4AD, 0xF7B194, 0xF49A7B, 0xEC7F63, 0xDE614C, 0xCB3E38, 0xB40426}},
    {"gray", 2, {0x000000, 0xFFFFFF}},
    {.name = NULL},
};
/* clang-format on */

uint32_t hs_colour_map_at(const struct hs_colour_map *map, double place)
{
    uint32_t colour = isnan(place) ? 0xA0A0A0 : 0;
    const double at = fmax(0, fmin(1, place)) * (map->count - 1);
    const int i = (int)fmin(floor(at), map->count - 2);
    for (int shift = 0; shift < 24 && !isnan(place); shift += 8) {
        const double a = map->colour[i] >> shift & 0xFF, b = map->colour[i + 1] >> shift & 0xFF;
        colour |= (uint32_t)lrint(a + (at - i) * (b - a)) << shift;
    }
    return colour;
}
