/* The properties of a GPU of this machine, as hs_device_table has them for others. */
#include "engine/backends/cuda_parts.cuh"

#include <stdio.h>
#include <string.h>

namespace
{

/* Fused multiply-adds per clock and multiprocessor. Source: CUDA C++ Programming Guide 13.0,
 * throughput of native arithmetic instructions. */
double per_clock(int major, int minor, hs_precision precision)
{
    const int full = major == 8 && minor == 0 ? 1 : major >= 8 ? 2 : 1; /* times 64 in float */
    const bool for_double = minor == 0 && major >= 8 && major <= 10;
    if (precision == HS_FLOAT)
        return 64.0 * full;
    return !for_double ? 2.0 : major == 8 ? 32.0 : 64.0;
}

/* "580.65.06" from the kernel module's own line; "" where that cannot be read. */
void module_version(char *out, size_t size)
{
    char line[256] = "", version[64] = "";
    FILE *file = fopen("/proc/driver/nvidia/version", "r");
    if (file && fgets(line, sizeof line, file))
        for (const char *word = line; *word && !version[0]; word++)
            if (sscanf(word, " %63[0-9.] ", version) == 1 && !strchr(version, '.'))
                version[0] = '\0'; /* a lone number is no version */
    if (file)
        fclose(file);
    snprintf(out, size, "%s%s", version[0] ? ", " : "", version);
}

hs_status ask(int device, hs_cuda_device *out, hs_error *err)
{
    int kilohertz = 0, memory_kilohertz = 0, bus_bits = 0, driver = 0, cache = 0;
    char version[72];
    hs_device_limits *const limits = &out->limits;
    const struct {
        int *to;
        cudaDeviceAttr what;
    } wanted[] = {
        {&limits->multiprocessors, cudaDevAttrMultiProcessorCount},
        {&limits->cooperative, cudaDevAttrCooperativeLaunch},
        {&limits->threads, cudaDevAttrMaxThreadsPerMultiProcessor},
        {&limits->blocks, cudaDevAttrMaxBlocksPerMultiprocessor},
        {&limits->registers, cudaDevAttrMaxRegistersPerMultiprocessor},
        {&limits->shared_bytes, cudaDevAttrMaxSharedMemoryPerMultiprocessor},
        {&limits->shared_bytes_per_block, cudaDevAttrMaxSharedMemoryPerBlockOptin},
        {&limits->shared_bytes_reserved, cudaDevAttrReservedSharedMemoryPerBlock},
        {&kilohertz, cudaDevAttrClockRate},
        {&memory_kilohertz, cudaDevAttrMemoryClockRate},
        {&bus_bits, cudaDevAttrGlobalMemoryBusWidth},
        {&cache, cudaDevAttrL2CacheSize},
    };
    for (const auto &w : wanted)
        HS_CUDA_TRY(err, cudaDeviceGetAttribute(w.to, w.what, device));
    cudaDeviceProp about;
    HS_CUDA_TRY(err, cudaGetDeviceProperties(&about, device));
    HS_CUDA_TRY(err, cudaDriverGetVersion(&driver));
    limits->capability[0] = about.major;
    limits->capability[1] = about.minor;
    snprintf(limits->name, sizeof limits->name, "%.63s", about.name);
    memcpy(limits->id, about.uuid.bytes, sizeof limits->id);
    limits->bandwidth = 2.0 * 1e3 * memory_kilohertz * bus_bits / 8.0; /* two transfers a clock */
    for (int p = 0; p < HS_PRECISIONS; p++)
        limits->flops[p] = 2.0 * 1e3 * kilohertz * limits->multiprocessors *
                           per_clock(about.major, about.minor, (hs_precision)p);
    out->cache = cache;
    snprintf(out->description, sizeof out->description,
             "%.255s (compute capability %d.%d, driver %d.%d)", about.name, about.major,
             about.minor, driver / 1000, driver % 1000 / 10);
    module_version(version, sizeof version);
    snprintf(out->fingerprint.device, sizeof out->fingerprint.device,
             "%.120s, compute capability %d.%d, %d multiprocessors", about.name, about.major,
             about.minor, about.multiProcessorCount);
    snprintf(out->fingerprint.driver, sizeof out->fingerprint.driver, "CUDA %d.%d%s", driver / 1000,
             driver % 1000 / 10, version);
    return HS_OK;
}

} // namespace

hs_status hs_cuda_device_of(int device, const hs_cuda_device **out, hs_error *err)
{
    static hs_cuda_device kept;
    static int known = -1;
    if (known != device) {
        hs_cuda_device asked = {};
        HS_TRY(ask(device, &asked, err));
        kept = asked;
        known = device;
    }
    *out = &kept;
    return HS_OK;
}

hs_status hs_cuda_fingerprint(int device, int threads, hs_device_fingerprint *out, hs_error *err)
{
    (void)threads;
    const hs_cuda_device *about;
    HS_TRY(hs_cuda_device_of(device, &about, err));
    *out = about->fingerprint;
    return HS_OK;
}

hs_status hs_cuda_limits(int device, hs_device_limits *out, hs_error *err)
{
    const hs_cuda_device *about;
    HS_TRY(hs_cuda_device_of(device, &about, err));
    *out = about->limits;
    return HS_OK;
}

double hs_cuda_cache(int device)
{
    const hs_cuda_device *about;
    return hs_cuda_device_of(device, &about, NULL) ? 0.0 : about->cache;
}
