/*
 * The same sweep in other software: scripts that each prove, time and answer with one line of JSON
 * (tests/peers/common.py says what is in it). A peer that is not installed, fails or takes too long
 * is no error: it says so in its place.
 */
#ifndef HS_ENGINE_PEERS_H
#define HS_ENGINE_PEERS_H

#include "engine/bench.h"

enum { HS_PEERS_MOST = 32 };

enum hs_peer_outcome { HS_PEER_TIMED, HS_PEER_ABSENT, HS_PEER_FAILED };

struct hs_peer {
    char name[64];
    enum hs_peer_outcome outcome;
    char why[256];             /* unless it was timed */
    char version[64];          /* "torch 2.8.0" */
    char device[128];          /* what it says it runs on */
    struct hs_samples seconds; /* of one sweep */
    double apart;              /* largest |T - heatsolve's| of its proof */
};

struct hs_peers {
    char folder[4096]; /* with the scripts */
    struct hs_peer peer[HS_PEERS_MOST];
    int count;
};

/*
 * The scripts of $HEATSOLVE_PEERS, else of share/heatsolve/peers beside the program's bin, else of
 * tests/peers in the source tree that the program was built in or that is the working directory.
 * `only`: those of a list with commas; NULL: all. HS_BAD_INPUT where there are none, or none of
 * that name.
 */
enum hs_status hs_peers_find(const char *only, struct hs_peers *out, struct hs_error *err);

/* Runs one with $PYTHON, else python3, on the request's case; `seconds`: as long as it may take. A
 * peer's answer, however bad, is no error. */
enum hs_status hs_peers_run(const struct hs_peers *peers, struct hs_peer *peer,
                            const struct hs_bench_request *request,
                            const struct hs_backend *backend, double seconds, struct hs_error *err);

#endif
