/* Example configs, each commented and ready to run; `heatsolve init` prints them. */
#ifndef HS_INPUT_TEMPLATES_H
#define HS_INPUT_TEMPLATES_H

struct hs_template {
    const char *name;
    const char *summary; /* one line */
    const char *text;
};

extern const struct hs_template hs_templates[]; /* ends with a NULL name; the first is the usual */

#endif
