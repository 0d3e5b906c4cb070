/* Tables of numbers that grow row by row: the sweeps and times of snapshots, history, probes. */
#ifndef HS_OUTPUT_SERIES_H
#define HS_OUTPUT_SERIES_H

#include "output/resume.h"

#include <stdbool.h>
#include <stdint.h>

struct hs_column {
    const char *group; /* "/", "/history", "/probes" */
    char *name;        /* owned; may include a subgroup: "flux/x_min" */
    char *units;       /* owned */
    const char *long_name;
    bool whole;     /* written as 64-bit integers */
    double *values; /* [rows] */
};

/* Column 0 is the sweep, column 1 the time. */
enum { HS_SERIES_SWEEP, HS_SERIES_TIME, HS_SERIES_FIRST };

struct hs_series {
    struct hs_column *columns;
    int column_count;
    int64_t rows;
};

/* Makes the columns sweep and time. */
void hs_series_init(struct hs_series *series, const char *group);
void hs_series_release(struct hs_series *series);

/* Only while there are no rows. The new column's index is then column_count - 1. */
void hs_series_add_column(struct hs_series *series, const char *group, const char *name,
                          const char *units, const char *long_name);

/* Adds a row with NaN in all columns except sweep and time; its index is then rows - 1. */
void hs_series_add_row(struct hs_series *series, int64_t sweep, double time);

struct hs_timeline hs_series_timeline(const struct hs_series *series);

/* The last row's sweep; -1 if there is none. */
int64_t hs_series_last_sweep(const struct hs_series *series);

/* A column's value in the last row; NULL if there is no such column or no row. */
double *hs_series_last(const struct hs_series *series, const char *group, const char *name);

#endif
