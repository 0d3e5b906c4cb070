/* Whether a method has enough memory beside the fields. */
#ifndef HS_ENGINE_METHOD_MEMORY_H
#define HS_ENGINE_METHOD_MEMORY_H

#include "engine/plan.h"

/*
 * Call it before anything is allocated. HS_DEVICE, with needed and free bytes and the largest grid,
 * if the host has less memory free than fields and method take: the system grants memory that it
 * does not have, and kills the process that touches it without a message. On other devices
 * allocation fails, and backends say so; they also check for methods without memory of their own.
 */
enum hs_status hs_method_check_memory(const struct hs_problem *problem, const struct hs_plan *plan,
                                      struct hs_error *err);

#endif
