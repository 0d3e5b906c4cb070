/* Evaluates the initial field and uploads it to the device. */
#ifndef HS_ENGINE_INITIAL_H
#define HS_ENGINE_INITIAL_H

#include "core/backend.h"
#include "core/problem.h"

/*
 * Uploads some rows at a time, so that no second copy of the grid is needed. All threads evaluate
 * them, since one thread takes longer for the field of a large grid than a GPU for a thousand
 * sweeps of it. A node's value is that of hs_problem_initial_row; or, if `from` is not NULL, the
 * number in that file, which has the whole grid's shape. In a slab this holds for the nodes that it
 * owns. Numbers that are not in memory are read some layers at a time. Errors: HS_DEVICE where
 * memory is short, and those of reading and upload.
 */
enum hs_status hs_initial_upload(const struct hs_problem *problem, const struct hs_stored *from,
                                 const struct hs_backend *backend, struct hs_backend_state *state,
                                 struct hs_error *err);

#endif
