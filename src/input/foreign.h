/*
 * Names that people bring from elsewhere, and what they are here: for messages about unknown keys,
 * words and signs. Nothing of it is accepted; a boundary's other names stand in its own row
 * (core/boundary.h).
 */
#ifndef HS_INPUT_FOREIGN_H
#define HS_INPUT_FOREIGN_H

#include "input/settings.h"

/* What an unknown key is about. */
struct hs_foreign {
    const char *meant; /* the key that it is here; NULL where there is none. Static storage */
    const char *said;  /* else a sentence */
};

/* False if the key says nothing to us. */
bool hs_foreign_key(const char *path, struct hs_foreign *out);

/* About a value of the wrong kind ("an expression as a conductivity"); NULL: nothing. */
const char *hs_foreign_value(const char *path, enum hs_setting_kind kind);

/* What to write in the place of a word that is not among an option's choices; false: not known. */
bool hs_foreign_choice(const struct hs_option *option, const char *word, char *out, size_t size);

/* In expressions: what to write for an unknown name, and for signs that are no operators; NULL. */
const char *hs_foreign_name(const char *name);
const char *hs_foreign_sign(const char *at);

#endif
