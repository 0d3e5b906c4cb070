/* What `explain` reports about a kernel's launch: in full, as one line of a table, or as JSON. */
#ifndef HS_OUTPUT_LAUNCH_REPORT_H
#define HS_OUTPUT_LAUNCH_REPORT_H

#include "core/device.h"
#include "output/json.h"

struct hs_launch {
    const struct hs_kernel *kernel;
    const struct hs_case *of;
    const struct hs_geometry *geometry;
    int recursion;                         /* of the kernel's plan */
    int registers;                         /* per thread; 0: not known */
    const struct hs_device_limits *device; /* NULL: not known */
};

void hs_launch_print(const struct hs_launch *launch);

void hs_launch_print_heading(void);
void hs_launch_print_line(const struct hs_launch *launch);

/* One object; device-specific members only if the device is known. */
void hs_launch_json(struct hs_json *json, const struct hs_launch *launch);

#endif
