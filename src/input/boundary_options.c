#include "input/boundary_options.h"

#include "core/boundary.h"
#include "core/memory.h"

#include <math.h>
#include <string.h>

/* Patches have an index, faces do not. */
static bool is_of_patch(const char *group)
{
    return strchr(group, '[') != NULL;
}

/* A face's type defaults to the first kind; a patch must give its type. */
static struct hs_option type_option(const char *group)
{
    char *choices = hs_copy("");
    for (const struct hs_boundary_kind *kind = hs_boundary_kinds; kind->name; kind++)
        if (!is_of_patch(group) || (kind->in_body.needs && !kind->wrap))
            choices = hs_list_add(choices, "|", kind->name);
    return (struct hs_option){.path = hs_format("%s.type", group),
                              .type = HS_OPTION_CHOICE,
                              .choices = choices,
                              .fallback = is_of_patch(group) ? NULL : hs_boundary_kinds[0].name,
                              .unit = "",
                              .help = "the kind of boundary"};
}

/* "neumann: heat that leaves through the face; needs a conductivity" */
static char *key_help(const struct hs_boundary_key *key, bool patch)
{
    char *help = hs_copy("");
    for (const struct hs_boundary_kind *kind = hs_boundary_kinds; kind->name; kind++)
        if (hs_boundary_key_find(kind, key->name) >= 0 && (!patch || kind->in_body.needs))
            help = hs_list_add(help, ", ", kind->name);
    help = hs_list_add(help, ": ", key->help);
    return key->conducts ? hs_list_add(help, "; ", "needs a conductivity") : help;
}

static struct hs_option key_option(const char *group, const struct hs_boundary_key *key)
{
    return (struct hs_option){.path = hs_format("%s.%s", group, key->name),
                              .type = HS_OPTION_VALUE,
                              .lowest = key->number ? 0.0 : -INFINITY,
                              .highest = INFINITY,
                              .unit = key->unit,
                              .help = key_help(key, is_of_patch(group))};
}

/* Whether an earlier kind has a key of this name. */
static bool is_listed(const struct hs_boundary_kind *before, const char *name)
{
    for (const struct hs_boundary_kind *kind = hs_boundary_kinds; kind < before; kind++)
        if (hs_boundary_key_find(kind, name) >= 0)
            return true;
    return false;
}

/* Options for a number from a file or table: "flux_file". */
static struct hs_option *add_files(const char *group, const struct hs_boundary_key *key,
                                   struct hs_option *to)
{
    static const struct {
        const char *name, *help;
    } ways[] = {
        {"file", "HDF5 or .npy file with one number for each node of the face, such as [z][y]"},
        {"dataset", "HDF5: its dataset"},
        {"table", HS_TABLE_HELP}};
    for (int n = 0; n < 3; n++)
        *to++ = (struct hs_option){.path = hs_format("%s.%s_%s", group, key->name, ways[n].name),
                                   .type = HS_OPTION_STRING,
                                   .fallback = n == 1 ? key->name : NULL,
                                   .unit = "",
                                   .help = ways[n].help,
                                   .loose = n == 1};
    return to;
}

struct hs_option *hs_boundary_options(const char *group, struct hs_option *to)
{
    *to++ = type_option(group);
    for (const struct hs_boundary_kind *kind = hs_boundary_kinds; kind->name; kind++)
        for (int n = 0; n < hs_boundary_key_count(kind); n++) {
            if (is_listed(kind, kind->key[n].name))
                continue;
            *to++ = key_option(group, &kind->key[n]);
            if (!kind->key[n].no_file)
                to = add_files(group, &kind->key[n], to);
        }
    return to;
}
