/*
 * Names from other programs and their equivalents here, for messages about unknown keys, words and
 * signs. None of them is accepted. Other names of a boundary kind are in its own row
 * (core/boundary.h).
 */
#ifndef HS_INPUT_FOREIGN_H
#define HS_INPUT_FOREIGN_H

#include "input/settings.h"

/* What an unknown key probably means. */
struct hs_foreign {
    const char *meant; /* the key to use here, in static storage; NULL: none */
    const char *said;  /* else an explanation */
};

/* False if the key is not recognised. */
bool hs_foreign_key(const char *path, struct hs_foreign *out);

/* Explains a value of the wrong kind ("an expression as a conductivity"); NULL: nothing known. */
const char *hs_foreign_value(const char *path, enum hs_setting_kind kind);

/* What to write instead of a word that is not among an option's choices; false: not known. */
bool hs_foreign_choice(const struct hs_option *option, const char *word, char *out, size_t size);

/* In expressions: what to write for an unknown name, or for a sign that is no operator; or NULL. */
const char *hs_foreign_name(const char *name);
const char *hs_foreign_sign(const char *at);

#endif
