/* What the GPU of this machine is able to do, for explain: as hs_device_table has it for others. */
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

/* "580.65.06" from the kernel module's own line; "" where it is not to be seen. */
void module_version(char *out, size_t size)
{
    char line[256] = "", version[64] = "";
    FILE *file = fopen("/proc/driver/nvidia/version", "r");
    if (file && fgets(line, sizeof line, file))
        for (const char *word = line; *word && !version[0]; word++)
            if (sscanf(word, " %63[0-9.] ", version) == 1 && !strchr(version, '.'))
                version[0] = '\0'; /* a lone number is not it */
    if (file)
        fclose(file);
    snprintf(out, size, "%s%s", version[0] ? ", " : "", version);
}

} // namespace

hs_status hs_cuda_identify(int device, int threads, hs_device_fingerprint *out, hs_error *err)
{
    (void)threads;
    cudaDeviceProp about;
    int driver = 0;
    char version[72];
    HS_CUDA_TRY(err, cudaGetDeviceProperties(&about, device));
    HS_CUDA_TRY(err, cudaDriverGetVersion(&driver));
    module_version(version, sizeof version);
    snprintf(out->device, sizeof out->device,
             "%.120s, compute capability %d.%d, %d multiprocessors", about.name, about.major,
             about.minor, about.multiProcessorCount);
    snprintf(out->driver, sizeof out->driver, "CUDA %d.%d%s", driver / 1000, driver % 1000 / 10,
             version);
    return HS_OK;
}

hs_status hs_cuda_limits(int device, hs_device_limits *out, hs_error *err)
{
    int kilohertz = 0, memory_kilohertz = 0, bus_bits = 0;
    const struct {
        int *to;
        cudaDeviceAttr what;
    } wanted[] = {
        {&out->capability[0], cudaDevAttrComputeCapabilityMajor},
        {&out->capability[1], cudaDevAttrComputeCapabilityMinor},
        {&out->multiprocessors, cudaDevAttrMultiProcessorCount},
        {&out->cooperative, cudaDevAttrCooperativeLaunch},
        {&out->threads, cudaDevAttrMaxThreadsPerMultiProcessor},
        {&out->blocks, cudaDevAttrMaxBlocksPerMultiprocessor},
        {&out->registers, cudaDevAttrMaxRegistersPerMultiprocessor},
        {&out->shared_bytes, cudaDevAttrMaxSharedMemoryPerMultiprocessor},
        {&out->shared_bytes_per_block, cudaDevAttrMaxSharedMemoryPerBlockOptin},
        {&out->shared_bytes_reserved, cudaDevAttrReservedSharedMemoryPerBlock},
        {&kilohertz, cudaDevAttrClockRate},
        {&memory_kilohertz, cudaDevAttrMemoryClockRate},
        {&bus_bits, cudaDevAttrGlobalMemoryBusWidth},
    };
    for (const auto &w : wanted)
        HS_CUDA_TRY(err, cudaDeviceGetAttribute(w.to, w.what, device));
    cudaDeviceProp about;
    HS_CUDA_TRY(err, cudaGetDeviceProperties(&about, device));
    snprintf(out->name, sizeof out->name, "%.63s", about.name);
    out->bandwidth = 2.0 * 1e3 * memory_kilohertz * bus_bits / 8.0; /* two transfers a clock */
    for (int p = 0; p < HS_PRECISIONS; p++)
        out->flops[p] = 2.0 * 1e3 * kilohertz * out->multiprocessors *
                        per_clock(out->capability[0], out->capability[1], (hs_precision)p);
    return HS_OK;
}

double hs_cuda_cache(int device)
{
    int bytes = 0;
    return cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, device) == cudaSuccess ? bytes
                                                                                         : 0.0;
}
