/* heatsolve --version: version, commit, compiler, libraries. */
#include "core/version.h"
#include "commands/command.h"
#include "input/arguments.h"

#include <stdio.h>

static enum hs_status run(int argc, char **argv, struct hs_error *err)
{
    HS_TRY(hs_arguments_read(argc, argv, NULL, 0, err));
    printf("heatsolve %s (commit %s, %s)\n", hs_version(), hs_commit(), hs_compiler());
    printf("%s\n", hs_libraries());
    return HS_OK;
}

const struct hs_command hs_command_version = {
    .name = "version",
    .usage = "heatsolve --version",
    .summary = "show version, commit, compiler, libraries",
    .help = "",
    .run = run,
};
