#include "engine/ranks/mpi/same.h"

#include "core/digest.h"
#include "core/memory.h"
#include "engine/ranks/mpi/part.h"
#include "engine/ranks/mpi/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- arguments ------------------------------------------------------------------------------- */

/* Joins the arguments, each with the 0 at its end, and an empty one after the last. */
static char *join(int argc, char **argv, size_t *bytes)
{
    char *text = NULL;
    FILE *stream = open_memstream(&text, bytes);
    for (int n = 1; n < argc; n++)
        fwrite(argv[n], 1, strlen(argv[n]) + 1, stream);
    fputc('\0', stream);
    fclose(stream);
    return text;
}

static const char *or_none(const char *argument)
{
    return *argument ? argument : "nothing more";
}

static enum hs_status compare_arguments(const char *here, size_t here_bytes, const char *first,
                                        size_t first_bytes, struct hs_error *err)
{
    if (here_bytes == first_bytes && memcmp(here, first, here_bytes) == 0)
        return HS_OK;
    while (*here && strcmp(here, first) == 0) {
        here += strlen(here) + 1;
        first += strlen(first) + 1;
    }
    return hs_error_add(err, HS_BAD_INPUT,
                        "its command line has %s where that of rank 0 has %s; start all ranks with "
                        "the same arguments",
                        or_none(here), or_none(first));
}

enum hs_status hs_same_arguments(int argc, char **argv, struct hs_error *err)
{
    size_t bytes, first_bytes;
    char *here = join(argc, argv, &bytes);
    first_bytes = bytes;
    hs_wire_tell(&first_bytes, sizeof first_bytes);
    char *first = hs_new(first_bytes);
    if (hs_wire.rank == 0)
        memcpy(first, here, bytes);
    hs_wire_tell(first, first_bytes);
    const enum hs_status st = compare_arguments(here, bytes, first, first_bytes, err);
    free(here);
    free(first);
    return hs_wire_settle(st, err);
}

/* ---- inputs ---------------------------------------------------------------------------------- */

/* The config, with what it includes, is compared by its text: a config from a pipe cannot be read
 * again. */
struct input {
    char key[128]; /* "": the config */
    struct hs_digest digest;
};

static struct hs_digest digest_of(const struct hs_problem *problem, const char *path)
{
    const char *text = problem->config_text ? problem->config_text : "";
    return path ? hs_digest_of_file(path) : hs_digest_of(text, strlen(text));
}

static bool is_file(const struct hs_input *input)
{
    return input->key[0] && input->key[0] != '@';
}

/* NULL if this rank names no such file, because its config is another. */
static const char *path_of(const struct hs_problem *problem, const char *key)
{
    for (int n = 0; n < problem->input_count; n++)
        if (is_file(&problem->inputs[n]) && strcmp(problem->inputs[n].key, key) == 0)
            return problem->inputs[n].path;
    return NULL;
}

static int list(const struct hs_problem *problem, struct input *out)
{
    int count = 1;
    out[0] = (struct input){.digest = digest_of(problem, NULL)};
    for (int n = 0; n < problem->input_count; n++) {
        const struct hs_input *input = &problem->inputs[n];
        if (!is_file(input))
            continue;
        out[count] = (struct input){.digest = digest_of(problem, input->path)};
        snprintf(out[count].key, sizeof out[count].key, "%s", input->key);
        count++;
    }
    return count;
}

static enum hs_status compare_input(const struct hs_problem *problem, const struct input *first,
                                    struct hs_error *err)
{
    const char *path = first->key[0] ? path_of(problem, first->key) : NULL;
    if (hs_digest_is(first->digest, digest_of(problem, path)))
        return HS_OK;
    return path ? hs_error_add(err, HS_BAD_INPUT, "%s: %s = \"%s\": " HS_NOT_THE_SAME,
                               problem->config_path, first->key, path)
                : hs_error_add(err, HS_BAD_INPUT,
                               "%s: the config or what it includes " HS_NOT_THE_SAME,
                               problem->config_path);
}

enum hs_status hs_same_inputs(const struct hs_problem *problem, struct hs_error *err)
{
    struct input *first = hs_new(((size_t)problem->input_count + 1) * sizeof *first);
    int count = hs_wire.rank == 0 ? list(problem, first) : 0;
    hs_wire_tell(&count, sizeof count);
    if (hs_wire.rank > 0) {
        free(first);
        first = hs_new((size_t)count * sizeof *first);
    }
    hs_wire_tell(first, (size_t)count * sizeof *first);
    enum hs_status st = HS_OK;
    for (int n = 0; n < count && !st && hs_wire.rank > 0; n++)
        st = compare_input(problem, &first[n], err);
    free(first);
    return hs_wire_settle(st, err);
}
