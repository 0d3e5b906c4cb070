#include "output/series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static enum hs_status no_memory(struct hs_error *err)
{
    return hs_error_add(err, HS_DEVICE, "no memory for the history of the run");
}

enum hs_status hs_series_add_column(struct hs_series *series, const char *group, const char *name,
                                    const char *units, const char *long_name, struct hs_error *err)
{
    struct hs_column *columns =
        realloc(series->columns, (size_t)(series->column_count + 1) * sizeof *columns);
    if (!columns)
        return no_memory(err);
    series->columns = columns;
    struct hs_column *column = &columns[series->column_count];
    *column = (struct hs_column){
        .group = group, .name = strdup(name), .units = strdup(units), .long_name = long_name};
    series->column_count++;
    if (!column->name || !column->units)
        return no_memory(err);
    return HS_OK;
}

enum hs_status hs_series_init(struct hs_series *series, const char *group, struct hs_error *err)
{
    *series = (struct hs_series){0};
    enum hs_status st = hs_series_add_column(series, group, "sweep", "1", "sweeps done", err);
    if (!st) {
        series->columns[HS_SERIES_SWEEP].whole = true;
        st = hs_series_add_column(series, group, "time", "s", "simulated time", err);
    }
    return st;
}

void hs_series_release(struct hs_series *series)
{
    for (int c = 0; c < series->column_count; c++) {
        free(series->columns[c].name);
        free(series->columns[c].units);
        free(series->columns[c].values);
    }
    free(series->columns);
    *series = (struct hs_series){0};
}

enum hs_status hs_series_add_row(struct hs_series *series, int64_t sweep, double time,
                                 struct hs_error *err)
{
    if (series->rows == series->capacity) {
        const int64_t capacity = 2 * series->capacity + 16;
        for (int c = 0; c < series->column_count; c++) {
            double *values = realloc(series->columns[c].values, (size_t)capacity * sizeof *values);
            if (!values)
                return no_memory(err);
            series->columns[c].values = values;
        }
        series->capacity = capacity;
    }
    for (int c = HS_SERIES_FIRST; c < series->column_count; c++)
        series->columns[c].values[series->rows] = NAN;
    series->columns[HS_SERIES_SWEEP].values[series->rows] = (double)sweep;
    series->columns[HS_SERIES_TIME].values[series->rows] = time;
    series->rows++;
    return HS_OK;
}

int64_t hs_series_last_sweep(const struct hs_series *series)
{
    return series->rows ? (int64_t)series->columns[HS_SERIES_SWEEP].values[series->rows - 1] : -1;
}

double hs_series_last(const struct hs_series *series, const char *group, const char *name)
{
    for (int c = 0; c < series->column_count && series->rows > 0; c++)
        if (strcmp(series->columns[c].group, group) == 0 &&
            strcmp(series->columns[c].name, name) == 0)
            return series->columns[c].values[series->rows - 1];
    return NAN;
}
