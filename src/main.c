/* heatsolve: dispatches to one file per command. The only place that prints errors and exits. */
#include "commands/command.h"
#include "core/text.h"
#include "core/version.h"
#include "engine/ranks/ranks.h"
#include "engine/threads.h"
#include "input/options.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define COMMAND(name) extern const struct hs_command hs_command_##name;
#include "generated/commands.h"
#undef COMMAND

const struct hs_command *const hs_commands[] = {
#define COMMAND(name) &hs_command_##name,
#include "generated/commands.h"
#undef COMMAND
    NULL,
};

static void print_help(FILE *stream)
{
    fprintf(
        stream,
        "heatsolve %s: temperatures over time in a rod, a plate or a block, on CPUs and GPUs\n\n"
        "usage: heatsolve COMMAND [ARGUMENT ...]\n\n",
        hs_version());
    for (int i = 0; hs_commands[i]; i++)
        fprintf(stream, "  %-10s %s\n", hs_commands[i]->name, hs_commands[i]->summary);
    fprintf(stream, "\nheatsolve help COMMAND says more, as does heatsolve COMMAND --help;\n"
                    "heatsolve --version shows the version.\n");
}

static enum hs_status unknown_command(const char *name, struct hs_error *err)
{
    char names[256] = "";
    for (int i = 0; hs_commands[i]; i++)
        hs_text_add(names, sizeof names, "|", hs_commands[i]->name);
    const char *nearest = hs_nearest_word(name, names);
    if (nearest)
        return hs_error_add(err, HS_BAD_INPUT, "%s: no such command; did you mean %s?", name,
                            nearest);
    if (access(name, F_OK) == 0)
        return hs_error_add(err, HS_BAD_INPUT,
                            "%s: a file, but no command; to run a config: heatsolve run CONFIG; "
                            "heatsolve --help lists the commands",
                            name);
    return hs_error_add(err, HS_BAD_INPUT, "%s: no such command; heatsolve --help lists them",
                        name);
}

/* The parent process may have closed a standard stream. The next file opened would get its
 * descriptor, and messages to stderr could then be written into the run's output. */
static void hold_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) == -1 && errno == EBADF && open("/dev/null", O_RDWR) == -1)
            return;
}

/* Whether the other end is gone: a pipe's reader, or the terminal. */
static bool nobody_reads(int file)
{
    struct pollfd end = {.fd = file};
    return poll(&end, 1, 0) == 1 && end.revents & (POLLERR | POLLHUP);
}

/* A config or summary that was truncated by a full disk must not look complete. */
static void check_standard_output(enum hs_status *status, struct hs_error *err)
{
    errno = 0;
    if ((fflush(stdout) == 0 && !ferror(stdout)) || nobody_reads(STDOUT_FILENO))
        return;
    const enum hs_status failed = hs_error_add(
        err, HS_IO, "standard output: cannot write: %s; what was written is incomplete",
        errno ? strerror(errno) : "an earlier write failed");
    *status = *status ? *status : failed;
}

static bool is_help(const char *argument)
{
    return strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0;
}

static const struct hs_command *command_named(const char *name)
{
    for (int i = 0; hs_commands[i]; i++)
        if (strcmp(hs_commands[i]->name, name) == 0)
            return hs_commands[i];
    return NULL;
}

/* Runs the command that the first argument names. */
static enum hs_status hand_over(int argc, char **argv, struct hs_error *err)
{
    const bool help = strcmp(argv[1], "help") == 0;
    if (is_help(argv[1]) || (help && (argc < 3 || is_help(argv[2])))) {
        if (hs_ranks_is_first())
            print_help(stdout);
        return HS_OK;
    }
    const char *name = strcmp(argv[1], "--version") == 0 ? "version" : argv[help ? 2 : 1];
    const struct hs_command *command = command_named(name);
    if (!command)
        return unknown_command(name, err);
    if (help && argc > 3)
        return hs_error_add(err, HS_BAD_INPUT,
                            "help: %s: one argument too many; see heatsolve --help", argv[3]);
    bool asked = help;
    for (int i = 2; i < argc; i++)
        asked = asked || is_help(argv[i]);
    if (asked) {
        if (hs_ranks_is_first())
            printf("usage: %s\n\n%s\n\n%s", command->usage, command->summary, command->help);
        return HS_OK;
    }
    if (!command->ranks && !hs_ranks_is_first())
        return HS_OK;
    return command->run(argc - 1, argv + 1, err);
}

/* Everything is written and closed. The system releases at once what libraries would tear down one
 * by one, above all CUDA's context. Only builds with leak detection or coverage return normally. */
extern void __asan_init(void) __attribute__((weak));
extern void __gcov_init(void *) __attribute__((weak));

static int leave(int status)
{
    if (!__asan_init && !__gcov_init)
        _exit(status);
    return status;
}

static void print_errors(const struct hs_error *err)
{
    if (err->text) {
        fputs("heatsolve: ", stderr);
        hs_text_put(stderr, err->text, "\n\t");
    }
    if (err->more)
        fprintf(stderr, "and %zu more\n", err->more);
}

int main(int argc, char **argv)
{
    hold_standard_streams();
    hs_threads_prepare();
    struct hs_error err = {0};
    enum hs_status status = hs_ranks_begin(&argc, &argv, &err);
    if (!status && argc < 2) {
        if (hs_ranks_is_first())
            print_help(stderr);
        status = HS_BAD_INPUT;
    } else if (!status) {
        status = hand_over(argc, argv, &err);
    }
    check_standard_output(&status, &err);
    if (hs_ranks_is_first())
        print_errors(&err);
    hs_error_release(&err);
    return leave((int)hs_ranks_end(status));
}
