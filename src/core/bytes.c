#include "core/bytes.h"

#include <stdio.h>

void hs_bytes_name(double bytes, char *out, size_t size)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    enum { LARGEST = sizeof units / sizeof *units - 1 };
    int unit = 0;
    while (bytes >= 1024.0 && unit < LARGEST) {
        bytes /= 1024.0;
        unit++;
    }
    snprintf(out, size, unit == 0 ? "%.0f %s" : "%.2f %s", bytes, units[unit]);
}
