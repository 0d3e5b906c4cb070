/*
 * Memory and processors that this process may use, within the limits of the control groups into
 * which a container or a batch system has put it. Linux; elsewhere nothing is known.
 */
#ifndef HS_CORE_MACHINE_H
#define HS_CORE_MACHINE_H

enum { HS_MACHINE_WHOSE = 256 };

struct hs_memory_free {
    double bytes;                 /* INFINITY: not known */
    char whose[HS_MACHINE_WHOSE]; /* what sets the limit: "the machine" or "the container (FILE)" */
};

/* The most that the process may ever hold. `root` is prefixed to /proc and /sys: "" for the machine
 * itself. */
struct hs_memory_free hs_machine_memory(const char *root);

/* The part of it that is free now: without swapping, and counting the file cache as free. */
struct hs_memory_free hs_machine_memory_free(const char *root);

/* The number of processors that corresponds to the groups' share of processor time, rounded up;
 * INT_MAX if they set no limit. (The OpenMP library takes account of the processors to which a
 * process is pinned.) */
int hs_machine_processors(const char *root);

/* Size of a core's L2 cache; 1 MiB if unknown. */
long hs_machine_l2_bytes(void);

#endif
