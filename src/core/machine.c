#include "core/machine.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

/* A hierarchy of control groups: in version 1 one per controller, in version 2 one for all, whose
 * line in /proc/self/cgroup names no controller. */
struct hierarchy {
    const char *controller; /* "": version 2 */
    const char *mount;
};

struct memory_files {
    struct hierarchy hierarchy;
    const char *limit, *used, *inactive, *active; /* the last two are lines of memory.stat */
};

static const struct memory_files memory_files[] = {
    {{"", "/sys/fs/cgroup"}, "memory.max", "memory.current", "inactive_file", "active_file"},
    {{"memory", "/sys/fs/cgroup/memory"},
     "memory.limit_in_bytes",
     "memory.usage_in_bytes",
     "total_inactive_file",
     "total_active_file"},
};

/* ---- files ----------------------------------------------------------------------------------- */

static FILE *open_file(const char *root, const char *directory, const char *file)
{
    char path[PATH_BYTES];
    const int length = snprintf(path, sizeof path, "%s%s/%s", root, directory, file);
    return length > 0 && length < PATH_BYTES ? fopen(path, "r") : NULL;
}

/* Reads up to two numbers at the start of a file; returns how many. "max" is not one. */
static int read_numbers(const char *root, const char *directory, const char *file, double number[2])
{
    FILE *stream = open_file(root, directory, file);
    if (!stream)
        return 0;
    const int count = fscanf(stream, "%lf %lf", &number[0], &number[1]);
    fclose(stream);
    return count > 0 ? count : 0;
}

/* The number in the line that begins with `word`; `missing` if there is none. */
static double read_line(const char *root, const char *directory, const char *file, const char *word,
                        double missing)
{
    char line[256], name[128];
    double value = missing, number;
    FILE *stream = open_file(root, directory, file);
    while (stream && fgets(line, sizeof line, stream))
        if (sscanf(line, "%127s %lf", name, &number) == 2 && strcmp(name, word) == 0) {
            value = number;
            break;
        }
    if (stream)
        fclose(stream);
    return value;
}

/* ---- groups ---------------------------------------------------------------------------------- */

static bool names_controller(const char *list, size_t length, const char *controller)
{
    const size_t wanted = strlen(controller);
    for (const char *word = list; word <= list + length;) {
        const size_t n = strcspn(word, ",:");
        if (n == wanted && strncmp(word, controller, n) == 0)
            return true;
        word += n + 1;
    }
    return false;
}

/* The directory of the process' group in a hierarchy, from "4:memory:/a/b" or "0::/a/b". */
static bool own_group(const char *root, const struct hierarchy *hierarchy, char directory[])
{
    char line[PATH_BYTES];
    FILE *stream = open_file(root, "/proc/self", "cgroup");
    bool found = false;
    while (stream && !found && fgets(line, sizeof line, stream)) {
        line[strcspn(line, "\n")] = '\0';
        const char *list = strchr(line, ':');
        const char *group = list ? strchr(list + 1, ':') : NULL;
        if (!group ||
            !names_controller(list + 1, (size_t)(group - list - 1), hierarchy->controller))
            continue;
        const char *inside = strcmp(group + 1, "/") == 0 ? "" : group + 1;
        const int length = snprintf(directory, PATH_BYTES, "%s%s", hierarchy->mount, inside);
        found = length > 0 && length < PATH_BYTES;
    }
    if (stream)
        fclose(stream);
    return found;
}

/* Moves to the parent group; false at the top. In a container the path may be the machine's while
 * only the container's own group is visible, at the top: missing groups are skipped. */
static bool leave_group(const struct hierarchy *hierarchy, char *directory)
{
    char *last = strrchr(directory, '/');
    if (!last || (size_t)(last - directory) < strlen(hierarchy->mount))
        return false;
    *last = '\0';
    return true;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void bound(struct hs_memory_free *available, double bytes, const char *directory,
                  const char *file)
{
    if (!(bytes < available->bytes))
        return;
    available->bytes = bytes;
    if (directory)
        snprintf(available->whose, sizeof available->whose, "the container (%.200s/%s)", directory,
                 file);
    else
        snprintf(available->whose, sizeof available->whose, "the machine");
}

/* Applies a group's limit; with `only_free` less its use without the file cache. */
static void bound_by_group(const char *root, const struct memory_files *files,
                           const char *directory, bool only_free, struct hs_memory_free *available)
{
    double limit[2], used[2];
    if (read_numbers(root, directory, files->limit, limit) == 0)
        return;
    double bytes = limit[0];
    if (only_free && read_numbers(root, directory, files->used, used) > 0) {
        const double cached = read_line(root, directory, "memory.stat", files->inactive, 0.0) +
                              read_line(root, directory, "memory.stat", files->active, 0.0);
        bytes -= fmax(used[0] - cached, 0.0);
    }
    bound(available, fmax(bytes, 0.0), directory, files->limit);
}

static struct hs_memory_free memory(const char *root, const char *line, bool only_free)
{
    struct hs_memory_free available = {.bytes = INFINITY, .whose = "the machine"};
    bound(&available, 1024.0 * read_line(root, "/proc", "meminfo", line, INFINITY), NULL, NULL);
    char directory[PATH_BYTES];
    for (size_t n = 0; n < sizeof memory_files / sizeof *memory_files; n++) {
        const struct memory_files *files = &memory_files[n];
        bool inside = own_group(root, &files->hierarchy, directory);
        for (; inside; inside = leave_group(&files->hierarchy, directory))
            bound_by_group(root, files, directory, only_free, &available);
    }
    return available;
}

struct hs_memory_free hs_machine_memory(const char *root)
{
    return memory(root, "MemTotal:", false);
}

struct hs_memory_free hs_machine_memory_free(const char *root)
{
    return memory(root, "MemAvailable:", true);
}

/* ---- processors ------------------------------------------------------------------------------ */

/* Processors of a group: microseconds of processor time per period. Version 2: "200000 100000" in
 * one file; version 1: two files, with -1 for no limit. */
static double share_of_group(const char *root, const char *directory)
{
    double quota[2], period[2];
    if (read_numbers(root, directory, "cpu.max", quota) == 2 && quota[1] > 0.0)
        return quota[0] / quota[1];
    if (read_numbers(root, directory, "cpu.cfs_quota_us", quota) > 0 && quota[0] > 0.0 &&
        read_numbers(root, directory, "cpu.cfs_period_us", period) > 0 && period[0] > 0.0)
        return quota[0] / period[0];
    return INFINITY;
}

int hs_machine_processors(const char *root)
{
    static const struct hierarchy hierarchies[] = {{"", "/sys/fs/cgroup"},
                                                   {"cpu", "/sys/fs/cgroup/cpu"}};
    double share = INFINITY;
    char directory[PATH_BYTES];
    for (size_t n = 0; n < sizeof hierarchies / sizeof *hierarchies; n++) {
        bool inside = own_group(root, &hierarchies[n], directory);
        for (; inside; inside = leave_group(&hierarchies[n], directory))
            share = fmin(share, share_of_group(root, directory));
    }
    return share < INT_MAX ? (int)fmax(ceil(share), 1.0) : INT_MAX;
}

long hs_machine_l2_bytes(void)
{
#ifdef _SC_LEVEL2_CACHE_SIZE
    const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
    if (bytes >= 128 * 1024)
        return bytes;
#endif
    return 1024 * 1024;
}
