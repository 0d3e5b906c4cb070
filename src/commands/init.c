/* heatsolve init: prints a commented config to start from. */
#include "commands/command.h"
#include "input/arguments.h"
#include "input/templates.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static enum hs_status run(int argc, char **argv, struct hs_error *err)
{
    bool list = false;
    const char *name = hs_templates[0].name;
    const struct hs_argument table[] = {
        {"--list", HS_ARGUMENT_FLAG, &list, ""},
        {NULL, HS_ARGUMENT_OPTIONAL, &name, "NAME"},
    };
    HS_TRY(hs_arguments_read(argc, argv, table, 2, err));
    if (list) {
        for (const struct hs_template *template = hs_templates; template->name; template ++)
            printf("%-12s %s\n", template->name, template->summary);
        return HS_OK;
    }
    const struct hs_template *template = hs_templates;
    while (template->name && strcmp(template->name, name) != 0)
        template ++;
    if (!template->name)
        return hs_error_add(err, HS_BAD_INPUT,
                            "init: %s: no such config; heatsolve init --list names them", name);
    fputs(template->text, stdout);
    return HS_OK;
}

const struct hs_command hs_command_init = {
    .name = "init",
    .usage = "heatsolve init [--list | NAME]",
    .summary = "print a commented config to start from",
    .help = "  NAME     which one; block3d without it\n"
            "  --list   names them all\n\n"
            "heatsolve init rod1d >rod.cfg && heatsolve run rod.cfg\n",
    .run = run,
};
