/*
 * Time to solution: how long each method takes to go through a case, or to find its steady state,
 * and how large its error is.
 *
 * The cases are those of configs/methods/, on any grid. The error of a case with an end is the
 * largest |T - reference| there, over the largest |reference|. The reference is the exact solution
 * in time of the grid's equations, by Richardson extrapolation of Euler's steps of 1, 1/2, 1/4, ...
 * of a length, whose error is a series in the step. Where a method makes any number of them at
 * once, steps are as short as the rounding of double allows; else the first is the longest stable
 * one. Source: Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I (1993), II.9.
 *
 * A steady state has a residual instead: the largest remaining rate of change over that of the
 * initial field, both from one sweep, whatever the method reports.
 */
#ifndef HS_ENGINE_MEASURE_BENCH_METHODS_H
#define HS_ENGINE_MEASURE_BENCH_METHODS_H

#include "engine/measure/peers.h"
#include "engine/measure/timing.h"

enum { HS_METHODS_CASES = 4, HS_METHODS_ROWS = 64 + HS_PEERS_MOST };

struct hs_methods_request {
    int64_t points; /* along the longest axis */
    enum hs_precision precision;
    const char *backend; /* a name, or "auto" */
    int threads;
    int repeats;         /* samples, at most; fewer where they would take long, but 3 at least */
    bool peers;          /* measure the peers of tests/peers/methods, too */
    const char *peer;    /* only these; NULL: all */
    double peer_seconds; /* time limit of each peer for a case */
};

/* A method or a peer, with one length of step. */
struct hs_methods_row {
    const char *name; /* "sweeps" where sweeps search for a steady state */
    bool peer;
    const char *version;
    char why[256];             /* why it did not do the case; "": it did */
    int64_t steps;             /* for a solver: iterations */
    double sweeps;             /* in all these steps; NaN where steps have none */
    double error;              /* or residual; a peer's as the peer reports it */
    struct hs_samples seconds; /* of create and advance, or create and solve */
};

struct hs_methods_case {
    const char *name;
    char title[64];
    int dims;
    int64_t points[HS_AXES];
    double end;         /* s; NaN: its steady state */
    double tolerance;   /* of the residual of a steady state */
    char device[128];   /* what the backend says it runs on */
    const char *by;     /* the method that made the reference's steps */
    double uncertainty; /* of the reference, relative, about */
    struct hs_methods_row row[HS_METHODS_ROWS];
    int count;
    struct hs_peers peers; /* their answers, in the last rows */
};

struct hs_methods_bench {
    struct hs_methods_request request;
    struct hs_methods_case of[HS_METHODS_CASES];
    int count; /* cases done */
};

/* All cases and methods; `out` has what was done, after an error too. */
enum hs_status hs_bench_methods(const struct hs_methods_request *request,
                                struct hs_methods_bench *out, struct hs_error *err);

#endif
