/*
 * The table of quantities in a run's history. Everything that names a quantity is derived from it:
 * the columns of /history in the file, which a resumed run reads back; the final values in --json
 * and the summary; what `render --plot history` draws; and the list in `heatsolve options` and
 * docs/file-format.md.
 */
#ifndef HS_OUTPUT_HISTORY_H
#define HS_OUTPUT_HISTORY_H

#include "core/backend.h"
#include "engine/balance/balance.h"
#include "engine/exact.h"
#include "output/json.h"
#include "output/series.h"

#include <stdio.h>

/* The state that a row is computed from. */
struct hs_history_state {
    const struct hs_problem *problem;
    int64_t sweep;
    const struct hs_reduction *reduction;
    const struct hs_exact_error *exact;     /* NULL: not measured */
    const struct hs_balance_terms *balance; /* NULL: there is none */
    /* [hs_history_count] the file's row of this sweep, for values unknown otherwise, such as those
     * of the last sweep if this process made none; NULL: no such row */
    const double *row;
};

struct hs_quantity {
    const char *name;      /* of its dataset, possibly within a group: "flux/total" */
    const char *long_name; /* a description */
    const char *note;      /* more about it, for the list; NULL: nothing */
    void (*unit)(const struct hs_problem *problem, char *out, size_t size);
    bool (*is_there)(const struct hs_problem *problem); /* in a run's file; NULL: always */
    bool each_wall;      /* a value for each wall, NAME/x_min and so on (hs_problem_wall_name) */
    const char *summary; /* its line in the summary, shared by others of one unit; NULL: none */
    double (*value)(const struct hs_history_state *state, int wall); /* NaN: not known */
};

/* Ends with a NULL name. The functions below take this table or, in tests, another. */
extern const struct hs_quantity hs_quantities[];

enum { HS_QUANTITY_NAME = 80, HS_QUANTITY_UNIT = 80 };

/* One value of a row. */
struct hs_history_value {
    const struct hs_quantity *quantity;
    int wall; /* 0 unless each_wall */
    char name[HS_QUANTITY_NAME];
};

/* The n-th value of the table or, if `in_file`, of this run's file. False: there are no more. */
bool hs_history_value(const struct hs_quantity *table, const struct hs_problem *problem,
                      bool in_file, int n, struct hs_history_value *out);

/* Number of history columns in the run's file. */
int hs_history_count(const struct hs_quantity *table, const struct hs_problem *problem);

/* Adds a column to the series for each value of the run's file, in the group "history". */
void hs_history_add_columns(const struct hs_quantity *table, const struct hs_problem *problem,
                            struct hs_series *history);

/* Fills in the values of the last row that are still NaN. */
void hs_history_fill(const struct hs_quantity *table, const struct hs_history_state *state,
                     struct hs_series *history);

/* Writes a JSON member for each value of the table. */
void hs_history_json(const struct hs_quantity *table, const struct hs_history_state *state,
                     struct hs_json *json);

/* Writes the lines of the summary. Both replace unknown values by those of the state's row. */
void hs_history_text(const struct hs_quantity *table, const struct hs_history_state *state,
                     FILE *stream);

/* The units that a quantity has in any problem: "J, J/m, J/m^2, K m^3". */
void hs_quantity_units(const struct hs_quantity *quantity, char *out, size_t size);

#endif
