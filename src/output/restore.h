/* Reads back what a run's file holds, so that a resumed run can go on with it. */
#ifndef HS_OUTPUT_RESTORE_H
#define HS_OUTPUT_RESTORE_H

#include "core/problem.h"
#include "output/chunks.h"
#include "output/series.h"

/* Where a run goes on, and how much of its file belongs to it by then: what else there is was
 * written because it was stopped, or after the checkpoint. */
struct hs_resume {
    int64_t sweep;
    int64_t snapshots;
    int64_t rows;    /* of history and probes */
    uint32_t places; /* hs_places of both */
};

/* A checksum of the sweeps and times of rows, after that of others (0: of none). So a checkpoint
 * knows the output that it goes on with: one of the same config has the same. */
uint32_t hs_places(uint32_t before, int64_t rows, const double *sweeps, const double *times);

/* Whether the sweeps are counts, each above the one before, and the times finite and in order. */
bool hs_places_are_sound(int64_t rows, const double *sweeps, const double *times);

/*
 * Fills the chunk list and the rows of the two series (initialised, with their columns) with the
 * first snapshots and rows of the problem's output, as many as belong to it.
 * HS_IO if it cannot be read; HS_BAD_INPUT if it is another run's or lacks some.
 */
enum hs_status hs_restore(const struct hs_problem *problem, const struct hs_resume *resume,
                          struct hs_chunks *chunks, struct hs_series *snapshots,
                          struct hs_series *history, struct hs_error *err);

#endif
