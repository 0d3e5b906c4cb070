/* Whether a method has memory enough beside the fields. */
#ifndef HS_ENGINE_METHOD_MEMORY_H
#define HS_ENGINE_METHOD_MEMORY_H

#include "engine/plan.h"

/*
 * Before anything is allocated: HS_DEVICE, with needed and free bytes and the largest grid, where
 * the host has less free than fields and method take. The system grants memory that it does not
 * have, and ends who touches it, without a message. Other devices do not, and their backends say
 * so; a method that has no memory of its own is the backend's affair.
 */
enum hs_status hs_method_check_memory(const struct hs_problem *problem, const struct hs_plan *plan,
                                      struct hs_error *err);

#endif
