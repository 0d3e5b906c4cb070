#include "engine/registry.h"

#include <stdio.h>
#include <string.h>

#define KERNEL(device, name) extern const struct hs_kernel hs_kernel_##device##_##name;
#define ABSENT(name, device, why)
#include "generated/kernels.h"
#undef KERNEL
#undef ABSENT

#define BACKEND(name) extern const struct hs_backend hs_backend_##name;
#include "generated/backends.h"
#undef BACKEND

const struct hs_kernel *const hs_kernels[] = {
#define KERNEL(device, name) &hs_kernel_##device##_##name,
#define ABSENT(name, device, why)
#include "generated/kernels.h"
#undef KERNEL
#undef ABSENT
    NULL,
};

const struct hs_absent_kernel hs_absent_kernels[] = {
#define KERNEL(device, name)
#define ABSENT(name, device, why) {name, device, why},
#include "generated/kernels.h"
#undef KERNEL
#undef ABSENT
    {NULL, NULL, NULL},
};

/* Best first: "auto" takes the first that is available. */
const struct hs_backend *const hs_backends[] = {
#define BACKEND(name) &hs_backend_##name,
#include "generated/backends.h"
#undef BACKEND
    NULL,
};
