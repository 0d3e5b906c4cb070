#include "input/boundary_options.h"

#include "core/boundary.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The options point to them: of each a path and a help, or choices. */
enum { TEXT = 320, TEXTS = 2 * HS_BOUNDARY_OPTIONS };
static char texts[TEXTS][TEXT];
static int texts_used;

static void add(char *text, const char *more)
{
    const size_t used = strlen(text);
    assert(used + strlen(more) < TEXT);
    snprintf(text + used, TEXT - used, "%s", more);
}

static char *new_text(const char *text)
{
    assert(texts_used < TEXTS);
    char *new = texts[texts_used++];
    add(new, text);
    return new;
}

static struct hs_option type_option(void)
{
    char *choices = new_text("");
    for (const struct hs_boundary_kind *kind = hs_boundary_kinds; kind->name; kind++) {
        add(choices, kind == hs_boundary_kinds ? "" : "|");
        add(choices, kind->name);
    }
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
    char *help = new_text("");
    for (const struct hs_boundary_kind *kind = hs_boundary_kinds; kind->name; kind++)
        if (hs_boundary_key_find(kind, key->name) >= 0) {
            add(help, help[0] ? ", " : "");
            add(help, kind->name);
        }
    add(help, ": ");
    add(help, key->help);
    add(help, key->conducts ? "; needs a conductivity" : "");
    return help;
}

static struct hs_option key_option(const struct hs_boundary_key *key)
{
    char *path = new_text("boundary.FACE.");
    add(path, key->name);
    return (struct hs_option){.path = path,
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
