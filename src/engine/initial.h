/* The initial field on its way to the device. */
#ifndef HS_ENGINE_INITIAL_H
#define HS_ENGINE_INITIAL_H

#include "core/backend.h"
#include "core/problem.h"

/*
 * Evaluates the initial field and uploads it, some rows at a time, so that no second copy of the
 * grid is needed: by all threads, since one takes longer for the field of a large grid than a GPU
 * for a thousand sweeps of it. Each node's value is that of hs_problem_initial_row; or, where
 * `from` is not NULL, the number that a file of the whole grid's shape has. In a slab that is said
 * of the nodes that it owns. Numbers that are not at hand are read, some layers at a time. Errors:
 * HS_DEVICE where memory is short, and those of the reading and the upload.
 */
enum hs_status hs_initial_upload(const struct hs_problem *problem, const struct hs_stored *from,
                                 const struct hs_backend *backend, struct hs_backend_state *state,
                                 struct hs_error *err);

#endif
