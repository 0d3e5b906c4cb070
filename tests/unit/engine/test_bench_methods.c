/* tests/cases/test_bench_methods.py covers what is measured. */
#include "engine/measure/bench_methods.h"
#include "test.h"

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>

static int open_files(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;
    assert_non_null(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

void test_bench_methods__a_file_in_memory_that_cannot_be_written_is_closed(void **state)
{
    static struct hs_methods_bench bench;
    const struct hs_methods_request request = {.points = 9, .backend = "cpu", .repeats = 1};
    const int before = open_files();
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    const rlim_t was = limit.rlim_cur;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    limit.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_fails(hs_bench_methods(&request, &bench, &err), HS_IO, "no file in memory");
    limit.rlim_cur = was;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    signal(SIGXFSZ, handler);
    assert_int_equal(open_files(), before);
}
