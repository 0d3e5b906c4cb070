#include "output/claim.h"

#include "core/regular.h"
#include "output/beside.h"
#include "output/existing.h"
#include "output/files.h"
#include "output/store.h"

#include <stdlib.h>
#include <string.h>

/* What a run writes or removes. */
enum { OUTPUT, SIDECAR, CHECKPOINT, OLDER, PARTS, NAMES = 2 * PARTS };

static const struct {
    const char *ending; /* beside the output; NULL: the output itself */
    enum hs_existing kind;
} rows[PARTS] = {[OUTPUT] = {NULL, HS_EXISTING_RUN},
                 [SIDECAR] = {".xdmf", HS_EXISTING_SIDECAR},
                 [CHECKPOINT] = {".checkpoint.h5", HS_EXISTING_CHECKPOINT},
                 [OLDER] = {".checkpoint.1.h5", HS_EXISTING_CHECKPOINT}};

/* The four files, then the part of each. */
static void make_names(const char *file, char *names[NAMES])
{
    for (int i = 0; i < PARTS; i++) {
        names[i] = rows[i].ending ? hs_file_sibling(file, rows[i].ending) : hs_file_resolved(file);
        names[PARTS + i] = hs_beside_name(names[i]);
    }
}

/* ---- what is read ---------------------------------------------------------------------------- */

/* The output itself was checked when the config was read. */
static enum hs_status check_inputs(const struct hs_problem *problem, char *const names[NAMES],
                                   struct hs_error *err)
{
    for (int i = 0; i < problem->input_count; i++)
        for (int n = OUTPUT + 1; n < NAMES; n++)
            if (hs_regular_same(names[n], problem->inputs[i].path)) {
                const char *key = problem->inputs[i].key;
                return hs_error_add(err, HS_BAD_INPUT,
                                    "%s: the run writes or removes %s too, which is the %s%s%s; "
                                    "give another name",
                                    hs_problem_place(problem, HS_PLACE_OUTPUT), names[n],
                                    key[0] ? "file that " : "config itself", key,
                                    key[0] ? " reads" : "");
            }
    return HS_OK;
}

/* ---- what is there already ------------------------------------------------------------------- */

/* Whether `file` is a run's output, finished or still a part. */
static bool is_run(const char *file)
{
    char *part = hs_beside_name(file);
    const bool found = hs_existing_at(file, true) == HS_EXISTING_RUN ||
                       hs_existing_at(part, false) == HS_EXISTING_RUN;
    free(part);
    return found;
}

/* Runs to "s" and to "s.h5" would share one .xdmf and one pair of checkpoints. */
enum hs_status hs_claim_check_twin(const struct hs_problem *problem, struct hs_error *err)
{
    const char *file = problem->output.file;
    char *twin = hs_file_twin(file), *xdmf = hs_file_sibling(file, ".xdmf");
    char *theirs = hs_file_sibling(twin, ".xdmf");
    enum hs_status st = HS_OK;
    if (strcmp(theirs, xdmf) == 0 && is_run(twin))
        st = hs_error_add(err, HS_IO,
                          "%s: %s is the output of another run, and both would write %s; %s", file,
                          twin, xdmf, hs_existing_elsewhere);
    free(twin);
    free(theirs);
    free(xdmf);
    return st;
}

enum hs_status hs_claim_check(const struct hs_problem *problem, bool resume, struct hs_error *err)
{
    char *names[NAMES];
    make_names(problem->output.file, names);
    enum hs_status st = check_inputs(problem, names, err);
    if (!st)
        st = hs_store_check_writers(names[OUTPUT], err);
    for (int i = 0; i < PARTS && !st; i++)
        st = hs_existing_check_work(names[i], rows[i].kind, resume || problem->output.overwrite,
                                    err);
    for (int n = PARTS; n < NAMES && !st; n++)
        st = hs_existing_check_part(names[n], hs_existing_elsewhere, err);
    if (!st)
        st = hs_claim_check_twin(problem, err);
    for (int n = 0; n < NAMES; n++)
        free(names[n]);
    return st;
}
