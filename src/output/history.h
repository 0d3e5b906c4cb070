/*
 * What a run's history holds: one table, of which all else is made that knows the quantities by
 * name. The columns of /history in the file, which a run that goes on reads back, what --json and
 * the summary say of the end, what `render --plot history` draws, and the list of heatsolve options
 * and docs/file-format.md.
 */
#ifndef HS_OUTPUT_HISTORY_H
#define HS_OUTPUT_HISTORY_H

#include "core/backend.h"
#include "engine/balance/balance.h"
#include "engine/exact.h"
#include "output/json.h"
#include "output/series.h"

#include <stdio.h>

/* What a row is made of. */
struct hs_history_state {
    const struct hs_problem *problem;
    int64_t sweep;
    const struct hs_reduction *reduction;
    const struct hs_exact_error *exact;     /* NULL where it was not measured */
    const struct hs_balance_terms *balance; /* NULL where there is none */
    /* [hs_history_count] what the run's file has of this sweep, for what is not known besides,
     * which of the sweep before is not where this process made none; NULL: nothing */
    const double *row;
};

struct hs_quantity {
    const char *name;      /* of its dataset; it may lie in a group: "flux/total" */
    const char *long_name; /* what it is */
    const char *note;      /* more about it, for the list; NULL: nothing */
    void (*unit)(const struct hs_problem *problem, char *out, size_t size);
    bool (*is_there)(const struct hs_problem *problem); /* in a run's file; NULL: in every run's */
    bool each_wall;      /* a value for each wall, NAME/x_min and so on (hs_problem_wall_name) */
    bool plotted;        /* by render --plot history; not those of each wall */
    const char *summary; /* its line of the summary, with others of one unit; NULL: none */
    double (*value)(const struct hs_history_state *state, int wall); /* NaN: not known */
};

/* Ends with a NULL name. The functions below take this table, or a test's. */
extern const struct hs_quantity hs_quantities[];

enum { HS_QUANTITY_NAME = 80, HS_QUANTITY_UNIT = 80 };

/* A value's place in a row. */
struct hs_history_value {
    const struct hs_quantity *quantity;
    int wall; /* 0 where it is not of each wall */
    char name[HS_QUANTITY_NAME];
};

/* The n-th value, of every run or, where `in_file`, of this run's file. False: there are no more.
 */
bool hs_history_value(const struct hs_quantity *table, const struct hs_problem *problem,
                      bool in_file, int n, struct hs_history_value *out);

/* How many columns the file has of them. */
int hs_history_count(const struct hs_quantity *table, const struct hs_problem *problem);

/* Gives the series a column for each value of the run's file, in the group "history". */
void hs_history_add_columns(const struct hs_quantity *table, const struct hs_problem *problem,
                            struct hs_series *history);

/* Puts into the last row what it does not know yet. */
void hs_history_fill(const struct hs_quantity *table, const struct hs_history_state *state,
                     struct hs_series *history);

/* A member for each value, of every run's. */
void hs_history_json(const struct hs_quantity *table, const struct hs_history_state *state,
                     struct hs_json *json);

/* The lines of the summary. Both take what the state's row has in place of what is not known. */
void hs_history_text(const struct hs_quantity *table, const struct hs_history_state *state,
                     FILE *stream);

/* "min, mean, max": those that are plotted; allocated. */
char *hs_history_plotted(const struct hs_quantity *table);

/* "J, J/m, J/m^2, K m^3": the units of a quantity in all problems that there are. */
void hs_quantity_units(const struct hs_quantity *quantity, char *out, size_t size);

#endif
