/*
 * Reads a config file into a problem.
 */
#ifndef HS_INPUT_CONFIG_H
#define HS_INPUT_CONFIG_H

#include "core/problem.h"

/*
 * Reads `path`, applies the overrides ("time.end=1.0", later ones over earlier ones), checks
 * everything, and fills `out` (initialised by this function; release it whatever the result).
 *
 * All errors of a config are reported, not the first alone, each as
 *     case.cfg:12: grid.points[0] = 2: at least 3 points are needed for radius 1
 * An override's place reads "--set:", or what gave it, instead of file:line.
 *
 * HS_BAD_INPUT for anything wrong in it, HS_IO if it or a file it names cannot be read.
 */
enum hs_status hs_config_read(const char *path, const char *const *overrides, int override_count,
                              struct hs_problem *out, struct hs_error *err);

/* What is done with numbers for each node that lie in files. */
enum hs_config_numbers {
    HS_NUMBERS_KEPT,   /* all are checked, and at hand afterwards */
    HS_NUMBERS_PASSED, /* checked, some after the other; initial and source are left where they are
                        */
    HS_NUMBERS_LEFT    /* nobody looks at them, nor does the fingerprint know them */
};

/* How hs_config_read differs for one command or rank from another; zeros: as it says. */
struct hs_config_how {
    enum hs_config_numbers numbers; /* ranks leave them but for the first, which passes them */
    const char *last_by;            /* "--output": what gave the last override; NULL: "--set" */
    struct hs_error *doubts;        /* gets, as warnings, what the config hardly means, up to 10;
                                       NULL: nobody asks */
};
enum hs_status hs_config_read_how(const char *path, const char *const *overrides,
                                  int override_count, struct hs_config_how how,
                                  struct hs_problem *out, struct hs_error *err);

#endif
