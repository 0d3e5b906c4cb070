/*
 * The boundary data of the faces, as every backend keeps them: values, fluxes and the like of
 * core/boundary.h, at several times.
 *
 * The data of one time are in a slot; a call that fuses sweeps has a slot for each level. Data are
 * evaluated no more often than they change: constants and expressions of space once, expressions of
 * time once per slot. Data that are uniform over a face are a number, others a table of the face's
 * nodes in the device's memory, in the problem's precision.
 */
#ifndef HS_ENGINE_WALLS_FACE_DATA_H
#define HS_ENGINE_WALLS_FACE_DATA_H

#include "core/kernel.h"
#include "core/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Ghost layers that a sweep reads: the radius less the held layers, which it does not update. */
int hs_face_depth(const struct hs_problem *problem, int face);

/* Where the nodes of a face lie in a field, in elements. */
struct hs_face_place {
    int64_t nodes;         /* of the face */
    int64_t length;        /* of a row of it, along its first axis */
    int64_t edge;          /* its first node, from node (0, 0, 0) */
    int64_t inward;        /* to the next node inside */
    int64_t along, across; /* between nodes of a row, and between rows */
    int64_t extent;        /* nodes along the face's own axis */
};
struct hs_face_place hs_face_place_in(const struct hs_layout *layout, int face);

/* What the data of one face depend on. */
struct hs_face_data {
    bool used;        /* some rule of the face reads them */
    bool varies_time; /* else they are evaluated once */
    bool varies_face; /* over the face: then in a table, else one number */
};

struct hs_face_slots {
    const struct hs_problem *problem; /* outlives this */
    int count;
    struct hs_face_data face[HS_FACES];
    double *time;              /* [count] s, of the data in each; NaN: none yet */
    double (*value)[HS_FACES]; /* [count] where uniform */
    void *(*table)[HS_FACES];  /* [count] the backend's; NULL where uniform, or as in slot 0 */
};

/* Bytes of all tables. */
double hs_face_slots_bytes(const struct hs_problem *problem, int slots);

/* Allocates all but the tables. HS_DEVICE when memory is short; release it whatever the result. */
enum hs_status hs_face_slots_init(struct hs_face_slots *slots, const struct hs_problem *problem,
                                  int count, struct hs_error *err);
void hs_face_slots_release(
    struct hs_face_slots *slots); /* tables are freed before, by the backend */

/* Whether the slot needs a table for the face. */
bool hs_face_slots_wants_table(const struct hs_face_slots *slots, int slot, int face);

/* The face's table for the slot; NULL where the data are uniform. */
const void *hs_face_slots_table(const struct hs_face_slots *slots, int slot, int face);

/* Fills a table with the face's data at time t [s]. */
typedef enum hs_status hs_face_table_function(void *self, int face, double t, void *table,
                                              struct hs_error *err);

/* Evaluates the data at time t [s] into a slot; does nothing if they are there already. */
enum hs_status hs_face_slots_at(struct hs_face_slots *slots, int slot, double t,
                                hs_face_table_function *fill, void *self, struct hs_error *err);

bool hs_face_slots_vary(const struct hs_face_slots *slots); /* in time */

/* Whether a prescribed layer changes in time, so that it has to be written after each sweep. */
bool hs_face_slots_prescribed_vary(const struct hs_face_slots *slots);

/* For a kernel that applies walls, the data of one fused sweep: input at slot `in`, output at
 * `out`. */
struct hs_face_level hs_face_slots_level(const struct hs_face_slots *slots, int in, int out);

#ifdef __cplusplus
}
#endif

#endif
