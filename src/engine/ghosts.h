/*
 * Ghost layers and prescribed layers of a field in host memory, by the rules of core/boundary.h.
 *
 * The values that drive the faces belong to a moment: hs_ghosts_at evaluates them there, each no
 * more often than it changes (constants and expressions of space once, of time once a moment, of
 * both as a table over the face's nodes). hs_ghosts_fill and hs_ghosts_prescribe then write.
 *
 * Several moments can be held at once, in slots, for kernels that fuse sweeps.
 */
#ifndef HS_ENGINE_GHOSTS_H
#define HS_ENGINE_GHOSTS_H

#include "core/kernel.h"
#include "core/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what a face is, the same for every backend ---- */

/* The two axes that a face lies along; its tables have the first one fastest. */
int hs_face_first_axis(int face);
int hs_face_second_axis(int face);

/* Ghost layers that a sweep reads: it updates nothing nearer to the wall than the held layers. */
int hs_face_depth(const struct hs_problem *problem, int face);

/* A face's drive, over its nodes. */
struct hs_face_drive {
    bool used;                     /* some rule of the face reads it */
    bool varies_time;              /* else it is evaluated once */
    bool varies_face;              /* over the face: then in a table, else one number */
    struct hs_instruction *turned; /* x faces: the program with x and y exchanged, owned */
};

/* All but `turned`. */
struct hs_face_drive hs_face_drive_describe(const struct hs_problem *problem, int face);

/* ---- ghost layers of the CPU backend ---- */

struct hs_ghosts {
    const struct hs_problem *problem; /* outlives this */
    struct hs_layout layout;
    int threads;
    int slots;
    struct hs_face_drive drive[HS_FACES];
    double *time;    /* [slots] s, of the values in each; NaN: none yet */
    double *value;   /* [slots][HS_FACES] uniform drives */
    void **table;    /* [slots][HS_FACES] in the problem's precision, the face's nodes
                        with the lower axis fastest; NULL where uniform */
    double *scratch; /* [threads][longest row of a face] */
    int64_t scratch_row;
};

/* Bytes that hs_ghosts_init would allocate for tables. */
double hs_ghosts_bytes(const struct hs_problem *problem, int slots);

/* Errors: HS_DEVICE when memory is short. Safe to release after failure. */
enum hs_status hs_ghosts_init(struct hs_ghosts *ghosts, const struct hs_problem *problem,
                              const struct hs_layout *layout, int slots, int threads,
                              struct hs_error *err);
void hs_ghosts_release(struct hs_ghosts *ghosts);

/* Evaluates the drives at time t [s] into a slot; free where they are there already. */
void hs_ghosts_at(struct hs_ghosts *ghosts, int slot, double t);

/* Fills the ghost layers that a sweep reads (depth radius - held) of a field given by its node
 * (0, 0, 0), along every axis, for all nodes of each face. */
void hs_ghosts_fill(const struct hs_ghosts *ghosts, int slot, void *field);

/* Whether a prescribed layer changes in time, so that it has to be written after each sweep. */
bool hs_ghosts_prescribed_vary(const struct hs_ghosts *ghosts);

/* Writes the drive to the outermost layer of each prescribed face; where two meet the later wins.
 */
void hs_ghosts_prescribe(const struct hs_ghosts *ghosts, int slot, void *field);

/* What a kernel that applies walls is told of one fused sweep: input at slot `in`, output at `out`.
 */
struct hs_face_level hs_ghosts_level(const struct hs_ghosts *ghosts, int in, int out);

#ifdef __cplusplus
}
#endif

#endif
