/*
 * What this process may use of the machine: memory and processors, as far as the control groups let
 * it that a container or a batch system has put it into. Linux; elsewhere nothing is known.
 * Source: the kernel's admin-guide/cgroup-v2 and cgroup-v1/memory, sched-bwc; proc(5).
 */
#ifndef HS_CORE_MACHINE_H
#define HS_CORE_MACHINE_H

enum { HS_MACHINE_WHOSE = 256 };

struct hs_memory_free {
    double bytes;                 /* INFINITY: not known */
    char whose[HS_MACHINE_WHOSE]; /* "the machine", or "the container (FILE)": who sets the bound */
};

/* The most that the process may ever hold. `root` stands before /proc and /sys: "" for the machine
 * itself. */
struct hs_memory_free hs_machine_memory(const char *root);

/* What of it is free now: without swapping, and with what files have in the cache given up. */
struct hs_memory_free hs_machine_memory_free(const char *root);

/* As many processors as the groups' share of time comes to, rounded up; INT_MAX where they set no
 * bound. (Those that a process is pinned to are the OpenMP library's to count.) */
int hs_machine_processors(const char *root);

/* Of a core's L2; 1 MiB where the machine does not tell. */
long hs_machine_l2_bytes(void);

#endif
