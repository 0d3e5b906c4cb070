/*
 * Pieces of a network: nodes that are joined by edges, except by those that are below the last
 * digits of another edge at one of their ends. Double cannot tell how such an edge, or a sink as
 * weak, moves the mean of the piece.
 */
#ifndef HS_ENGINE_MULTIGRID_PIECES_H
#define HS_ENGINE_MULTIGRID_PIECES_H

#include "engine/multigrid/equations.h"

/* HS_BAD_INPUT if rounding decides the steady mean of a piece: all that binds it to other pieces,
 * to held nodes and by sinks is below the last digits of its strongest edge. Not if the equations
 * are floating and have one piece: its heat fixes that mean. HS_DEVICE when memory is short. */
enum hs_status hs_pieces_check(const struct hs_equations *equations, struct hs_error *err);

#endif
