/*
 * Reads a config file into a problem.
 */
#ifndef HS_INPUT_CONFIG_H
#define HS_INPUT_CONFIG_H

#include "core/problem.h"

/* What to do with numbers per node that are stored in files. */
enum hs_config_numbers {
    HS_NUMBERS_KEPT,   /* check all and keep them in memory */
    HS_NUMBERS_PASSED, /* check them in parts; initial and source stay in their files */
    HS_NUMBERS_LEFT    /* do not read them; the fingerprint lacks them */
};

/* What particular commands and ranks need; zeros: nothing else than described below. */
struct hs_config_how {
    enum hs_config_numbers numbers; /* the first rank passes them, the others leave them */
    const char *last_by;     /* "--output": the option that gave the last override; NULL: "--set" */
    struct hs_error *doubts; /* gets warnings of likely mistakes, up to 10; NULL: none */
};

/*
 * Reads `path`, applies the overrides ("time.end=1.0", later ones over earlier ones), checks
 * everything, and fills `out` (initialised by this function; release it whatever the result).
 *
 * All errors of a config are reported, not only the first, each as
 *     case.cfg:12: grid.points[0] = 2: at least 3 points are needed for radius 1
 * For an override, "--set:" or the option that gave it replaces file:line.
 *
 * HS_BAD_INPUT for any error in the config, HS_IO if it or a file it names cannot be read.
 */
enum hs_status hs_config_read(const char *path, const char *const *overrides, int override_count,
                              struct hs_config_how how, struct hs_problem *out,
                              struct hs_error *err);

#endif
