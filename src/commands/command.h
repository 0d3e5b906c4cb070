/*
 * Each command is one file: commands/NAME.c defines hs_command_NAME. The build finds it by its file
 * name.
 */
#ifndef HS_COMMANDS_COMMAND_H
#define HS_COMMANDS_COMMAND_H

#include "core/status.h"

struct hs_command {
    const char *name;
    const char *usage;   /* "heatsolve run CONFIG [--set KEY=VALUE] ..." */
    const char *summary; /* one line */
    const char *help;    /* options, one per line, after the usage */
    /* argv[0] is the command's name. Prints results to stdout; errors go into err. */
    enum hs_status (*run)(int argc, char **argv, struct hs_error *err);
    bool ranks; /* runs on all ranks (engine/ranks/ranks.h), else on the first only */
};

extern const struct hs_command *const hs_commands[]; /* alphabetical, ends with NULL */

#endif
