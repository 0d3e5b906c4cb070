/*
 * Comparison with other software: scripts that each prove and time themselves. tests/peers/run.py
 * runs them, and documents what it reads and which rows it prints. A peer that is not installed,
 * fails or takes too long is no error: its row says so.
 */
#ifndef HS_ENGINE_MEASURE_PEERS_H
#define HS_ENGINE_MEASURE_PEERS_H

#include "engine/measure/bench.h"

#include <stdio.h>

enum { HS_PEERS_MOST = 32 };

/* What is compared: the scripts' folder, relative to that of run.py. */
#define HS_PEERS_SWEEPS "."        /* a sweep, for bench */
#define HS_PEERS_METHODS "methods" /* time to an answer, for bench --methods */

enum hs_peer_outcome { HS_PEER_TIMED, HS_PEER_ABSENT, HS_PEER_FAILED, HS_PEER_OUTCOMES };

struct hs_peer {
    char name[64];
    enum hs_peer_outcome outcome;
    char why[256];             /* unless it was timed */
    char version[64];          /* "torch 2.8.0" */
    char device[128];          /* what it says it runs on */
    struct hs_samples seconds; /* of one sweep, or of the way to the answer */
    double apart;              /* largest |T - heatsolve's| of its proof, or the answer's error */
    int64_t steps;             /* to the answer; else 0 */
};

struct hs_peers {
    struct hs_peer peer[HS_PEERS_MOST];
    int count;
};

/*
 * Whether there are peers, and those of `only`, a comma-separated list (NULL: all), are among them.
 * run.py is that of $HEATSOLVE_PEERS, else of share/heatsolve/peers beside the program's bin, else
 * of tests/peers in the source tree in which the program was built, or that is the working
 * directory. $PYTHON, else python3, runs it. HS_BAD_INPUT where there are no such peers, no run.py
 * or no Python; HS_IO where run.py fails.
 */
enum hs_status hs_peers_check(const char *folder, const char *only, struct hs_error *err);

/* Sends the file to the peers of a folder, from its beginning: it holds what run.py reads. */
enum hs_status hs_peers_ask(const char *folder, const char *only, double seconds, FILE *question,
                            struct hs_peers *out, struct hs_error *err);

/* Runs the peers of sweeps on the request's case; `seconds`: time limit of each. `out` has those
 * that answered, after an error too. */
enum hs_status hs_peers_run(const char *only, const struct hs_bench_request *request,
                            const struct hs_backend *backend, double seconds, struct hs_peers *out,
                            struct hs_error *err);

#endif
