/*
 * What GPUs can do: the limits that decide how many blocks a multiprocessor holds, and the two
 * ceilings of the roofline. A small table, so that launches can be explained without a GPU.
 */
#ifndef HS_CORE_DEVICE_H
#define HS_CORE_DEVICE_H

#include "core/kernel.h"

struct hs_device_limits {
    char name[64];     /* "H200" */
    int capability[2]; /* 9, 0 */
    int multiprocessors;
    int cooperative; /* whether a launch may demand that all its blocks run at once */
    int threads;     /* per multiprocessor, likewise the next three */
    int blocks;
    int registers;
    int shared_bytes;
    int shared_bytes_per_block;  /* the most that a block may ask for */
    int shared_bytes_reserved;   /* taken from each block's share by the system */
    double bandwidth;            /* of device memory, bytes/s */
    double flops[HS_PRECISIONS]; /* outside the matrix units, 1/s */
    unsigned char id[16];        /* identifies this device, whatever its number; 0: not known */
};

/*
 * Sources: NVIDIA's data sheets and architecture papers of each GPU for rates; CUDA C++ Programming
 * Guide 13.0, technical specifications per compute capability, for limits. Ends with an empty name.
 */
extern const struct hs_device_limits hs_device_table[];

/* By name, case ignored; NULL if there is none. */
const struct hs_device_limits *hs_device_find(const char *name);

/* Measured peak rates of a device, besides copying. 0: not measured. */
struct hs_ceilings {
    double flops; /* 1/s, outside the matrix units; a fused multiply-add counts twice */
    double cache; /* bytes/s read from the last-level cache */
};

struct hs_occupancy {
    int blocks;        /* resident on a multiprocessor; 0: the block does not fit */
    int threads;       /* blocks * threads per block */
    double share;      /* fraction of the threads that a multiprocessor can hold */
    const char *bound; /* the limiting resource: "threads", "blocks", ... */
};

/* `registers`: per thread; 0: not known and not counted. */
struct hs_occupancy hs_device_occupancy(const struct hs_device_limits *device,
                                        const struct hs_geometry *geometry, int registers);

/* The roofline's time [s] of a launch of `steps` sweeps: the longer of its operations at the peak
 * rate and one read and one write of every point at full bandwidth. */
double hs_device_roofline(const struct hs_device_limits *device, const struct hs_geometry *geometry,
                          enum hs_precision precision);

#endif
