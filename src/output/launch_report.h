/* What `explain` tells of a kernel's launch: whole, or in a line of a table; for people and as
 * JSON. */
#ifndef HS_OUTPUT_LAUNCH_REPORT_H
#define HS_OUTPUT_LAUNCH_REPORT_H

#include "core/device.h"
#include "output/json.h"

struct hs_launch {
    const struct hs_kernel *kernel;
    const struct hs_case *of;
    const struct hs_geometry *geometry;
    int recursion;                         /* of the kernel's plan */
    int registers;                         /* of a thread; 0: not known */
    const struct hs_device_limits *device; /* NULL: none is known */
};

void hs_launch_print(const struct hs_launch *launch);

void hs_launch_print_heading(void);
void hs_launch_print_line(const struct hs_launch *launch);

/* One object; what belongs to a device only where one is known. */
void hs_launch_json(struct hs_json *json, const struct hs_launch *launch);

#endif
