/* Trees of /proc and /sys as containers and batch systems create them. */
#include "core/machine.h"
#include "test.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char root[64];

static void write_file(const char *name, const char *text)
{
    char path[512], command[600];
    snprintf(path, sizeof path, "%s%s", root, name);
    snprintf(command, sizeof command, "mkdir -p $(dirname '%s')", path);
    assert_int_equal(system(command), 0);
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    fputs(text, stream);
    fclose(stream);
}

/* A machine of 8 GiB, 6 of them free; `groups` names the groups of its process. */
static void make_machine(const char *groups)
{
    strcpy(root, "/tmp/heatsolve-machine-XXXXXX");
    assert_non_null(mkdtemp(root));
    write_file("/proc/meminfo", "MemTotal:       8388608 kB\nMemFree:         1048576 kB\n"
                                "MemAvailable:    6291456 kB\n");
    write_file("/proc/self/cgroup", groups);
}

static void remove_machine(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    assert_int_equal(system(command), 0);
}

static void assert_memory(double most_mib, double free_mib, const char *whose)
{
    const struct hs_memory_free most = hs_machine_memory(root), free = hs_machine_memory_free(root);
    assert_near(most.bytes, most_mib * 0x1p20, 0.0);
    assert_near(free.bytes, free_mib * 0x1p20, 0.0);
    assert_string_equal(most.whose, whose);
}

void test_machine__without_groups_has_what_the_machine_has(void **state)
{
    make_machine("0::/\n");
    assert_memory(8192, 6144, "the machine");
    assert_int_equal(hs_machine_processors(root), INT_MAX);
    write_file("/sys/fs/cgroup/memory.max", "max\n");
    write_file("/sys/fs/cgroup/cpu.max", "max 100000\n");
    assert_memory(8192, 6144, "the machine");
    assert_int_equal(hs_machine_processors(root), INT_MAX);
    remove_machine();
}

void test_machine__that_nothing_is_known_of_has_no_bounds(void **state)
{
    assert_true(isinf(hs_machine_memory("/nowhere").bytes));
    assert_true(isinf(hs_machine_memory_free("/nowhere").bytes));
    assert_int_equal(hs_machine_processors("/nowhere"), INT_MAX);
}

/* A container with its own name space sees its group at the top. Of 512 MiB in use, 96 are file
 * cache. */
void test_machine__container_of_version_2_bounds_memory_and_processors(void **state)
{
    make_machine("0::/\n");
    write_file("/sys/fs/cgroup/memory.max", "1073741824\n");
    write_file("/sys/fs/cgroup/memory.current", "536870912\n");
    write_file("/sys/fs/cgroup/memory.stat",
               "anon 436207616\nfile 100663296\ninactive_anon 7\ninactive_file 67108864\n"
               "active_file 33554432\n");
    write_file("/sys/fs/cgroup/cpu.max", "150000 100000\n");
    assert_memory(1024, 1024 - 512 + 96, "the container (/sys/fs/cgroup/memory.max)");
    assert_int_equal(hs_machine_processors(root), 2); /* one and a half */
    remove_machine();
}

/* The lowest bound counts, which may be that of an enclosing group. */
void test_machine__groups_around_the_own_bound_too(void **state)
{
    make_machine("0::/slice/job/step\n");
    write_file("/sys/fs/cgroup/slice/memory.max", "3221225472\n"); /* 3 GiB */
    write_file("/sys/fs/cgroup/slice/memory.current", "2147483648\n");
    write_file("/sys/fs/cgroup/slice/job/memory.max", "2147483648\n");
    write_file("/sys/fs/cgroup/slice/job/memory.current", "0\n");
    write_file("/sys/fs/cgroup/slice/job/step/memory.max", "max\n");
    write_file("/sys/fs/cgroup/slice/cpu.max", "300000 100000\n");
    write_file("/sys/fs/cgroup/slice/job/cpu.max", "700000 100000\n");
    assert_memory(2048, 1024, "the container (/sys/fs/cgroup/slice/job/memory.max)");
    assert_string_equal(hs_machine_memory_free(root).whose,
                        "the container (/sys/fs/cgroup/slice/memory.max)");
    assert_int_equal(hs_machine_processors(root), 3);
    remove_machine();
}

/* A bound above the machine's memory does not add to it. */
void test_machine__bound_above_the_machine_is_none(void **state)
{
    make_machine("0::/\n");
    write_file("/sys/fs/cgroup/memory.max", "1099511627776\n");
    write_file("/sys/fs/cgroup/memory.current", "0\n");
    assert_memory(8192, 6144, "the machine");
    remove_machine();
}

/* Version 1 has no word for "no bound"; it uses a number that no machine has. A container without a
 * name space has the machine's path, and sees its own group at the top. The hierarchy of cpusets,
 * whose name is as long as memory's, is a different one. */
void test_machine__version_1_has_a_hierarchy_for_each(void **state)
{
    make_machine("0::/none\n9:cpuset:/wrong\n5:cpu,cpuacct:/docker/0123\n4:memory:/docker/0123\n");
    write_file("/sys/fs/cgroup/memory/wrong/memory.limit_in_bytes", "4096\n");
    write_file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    write_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    write_file("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    assert_memory(8192, 6144, "the machine");
    assert_int_equal(hs_machine_processors(root), INT_MAX);
    write_file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "2147483648\n");
    write_file("/sys/fs/cgroup/memory/memory.usage_in_bytes", "1073741824\n");
    write_file("/sys/fs/cgroup/memory/memory.stat",
               "inactive_file 4096\nactive_file 4096\ntotal_inactive_file 268435456\n"
               "total_active_file 268435456\n");
    write_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000\n");
    assert_memory(2048, 1024 + 512, "the container (/sys/fs/cgroup/memory/memory.limit_in_bytes)");
    assert_int_equal(hs_machine_processors(root), 1); /* at least one */
    remove_machine();
}

/* More in use than allowed, as after a limit was lowered: nothing is free. */
void test_machine__nothing_free_is_not_less_than_nothing(void **state)
{
    make_machine("0::/\n");
    write_file("/sys/fs/cgroup/memory.max", "1048576\n");
    write_file("/sys/fs/cgroup/memory.current", "2097152\n");
    assert_memory(1, 0, "the container (/sys/fs/cgroup/memory.max)");
    remove_machine();
}
