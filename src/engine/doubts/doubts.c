#include "core/disk.h"
#include "core/text.h"
#include "engine/doubts/checks.h"

#include <stdio.h>
#include <string.h>

/* An .xdmf file can neither escape ":" and "|" nor hold what is not text. */
static void doubt_name(const struct hs_problem *problem, struct hs_error *out)
{
    const char *name = hs_file_name(problem->output.file);
    if (hs_text_is_plain(name) && !strpbrk(name, ":|"))
        return;
    hs_error_warn(
        out, hs_problem_place(problem, HS_PLACE_OUTPUT),
        "%s; choose another name, or read the file itself",
        hs_text_is_plain(name)
            ? "ParaView's readers of .xdmf take \":\" and \"|\" for the end of a file's name"
            : "a name with control characters, or that is not UTF-8, makes the .xdmf unreadable");
}

void hs_doubts_find(const struct hs_problem *problem, const struct hs_plan *plan,
                    struct hs_error *out)
{
    hs_doubts_of_materials(problem, out);
    hs_doubts_of_walls(problem, plan, out);
    hs_doubts_of_temperatures(problem, plan, out);
    hs_doubts_of_sources(problem, plan, out);
    hs_doubts_of_steps(problem, plan, out);
    doubt_name(problem, out);
}

void hs_doubts_say(const struct hs_error *doubts, void (*say)(void *self, const char *text),
                   void *self)
{
    const char *at = doubts->text ? doubts->text : "";
    while (*at) {
        char line[1000];
        const size_t length = strcspn(at, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, at);
        say(self, line);
        at += length + (at[length] == '\n');
    }
}
