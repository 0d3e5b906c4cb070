#include "input/boundary_options.h"

#include "core/boundary.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>

/* Adds to an allocated text. */
static char *longer(char *text, const char *between, const char *more)
{
    char *all = hs_format("%s%s%s", text, text[0] ? between : "", more);
    free(text);
    return all;
}

static struct hs_option type_option(void)
{
    char *choices = hs_copy("");
    for (const struct hs_boundary_kind *kind = hs_boundary_kinds; kind->name; kind++)
        choices = longer(choices, "|", kind->name);
    return (struct hs_option){.path = "boundary.FACE.type",
                              .type = HS_OPTION_CHOICE,
                              .choices = choices,
                              .fallback = hs_boundary_kinds[0].name,
                              .unit = "",
                              .help = "the kind of boundary"};
}

/* "neumann: heat that leaves through the face; needs a conductivity" */
static char *key_help(const struct hs_boundary_key *key)
{
    char *help = hs_copy("");
    for (const struct hs_boundary_kind *kind = hs_boundary_kinds; kind->name; kind++)
        if (hs_boundary_key_find(kind, key->name) >= 0)
            help = longer(help, ", ", kind->name);
    help = longer(help, ": ", key->help);
    return key->conducts ? longer(help, "; ", "needs a conductivity") : help;
}

static struct hs_option key_option(const struct hs_boundary_key *key)
{
    return (struct hs_option){.path = hs_format("boundary.FACE.%s", key->name),
                              .type = key->number ? HS_OPTION_NUMBER : HS_OPTION_VALUE,
                              .lowest = key->number ? 0.0 : -INFINITY,
                              .highest = INFINITY,
                              .unit = key->unit,
                              .help = key_help(key)};
}

/* Whether a kind before this one has a key of the name. */
static bool is_listed(const struct hs_boundary_kind *before, const char *name)
{
    for (const struct hs_boundary_kind *kind = hs_boundary_kinds; kind < before; kind++)
        if (hs_boundary_key_find(kind, name) >= 0)
            return true;
    return false;
}

struct hs_option *hs_boundary_options(struct hs_option *to)
{
    *to++ = type_option();
    for (const struct hs_boundary_kind *kind = hs_boundary_kinds; kind->name; kind++)
        for (int n = 0; n < hs_boundary_key_count(kind); n++)
            if (!is_listed(kind, kind->key[n].name))
                *to++ = key_option(&kind->key[n]);
    return to;
}
