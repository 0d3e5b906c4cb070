#include "output/pictures/roofline.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[64];

static void begin(void)
{
    snprintf(path, sizeof path, "/tmp/heatsolve-roofline-%d.png", (int)getpid());
    unlink(path);
}

static struct hs_roofline roofline_of(int count)
{
    struct hs_roofline r = {.bandwidth = 4e12, .ceilings = {6e13, 8e12}, .flops_per_point = 13.0};
    for (int n = 0; n < count; n++)
        r.point[r.count++] = (struct hs_roofline_point){.name = "some_kernel",
                                                        .words = 2.0,
                                                        .intensity = 1.625 * (1 + n % 7),
                                                        .flops = 1e12 * (1 + n),
                                                        .ceiling = 6.5e12,
                                                        .fraction = 0.5,
                                                        .bound = (enum hs_roofline_bound)(n % 4)};
    return r;
}

/* Bytes of the picture; 0 if there is none. */
static long size_of_picture(void)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return 0;
    char head[8];
    assert_int_equal(fread(head, 1, 8, file), 8);
    assert_memory_equal(head, "\x89PNG\r\n\x1a\n", 8);
    fseek(file, 0, SEEK_END);
    const long size = ftell(file);
    fclose(file);
    unlink(path);
    return size;
}

/* One kernel, as many as possible, in the cache, and without ceilings that a device may lack. */
void test_picture_roofline__draws_whatever_was_measured(void **state)
{
    begin();
    long smaller = 0;
    for (int n = 0; n < 4; n++) {
        struct hs_roofline r = roofline_of(n == 0 ? 1 : HS_BENCH_MOST);
        if (n == 2)
            r.place = HS_BENCH_CACHE;
        if (n == 3)
            r.ceilings = (struct hs_ceilings){0};
        assert_ok(hs_picture_roofline(&r, "a device", "a grid", path, &err));
        const long size = size_of_picture();
        assert_true(size > 10000);
        if (n == 1)
            assert_true(size > smaller); /* 64 names are more ink than one */
        smaller = size;
    }
}

void test_picture_roofline__nothing_timed_is_no_picture(void **state)
{
    begin();
    const struct hs_roofline r = roofline_of(0);
    assert_fails(hs_picture_roofline(&r, "a device", "a grid", path, &err), HS_FAILED_CHECK,
                 "no kernel was timed");
    assert_int_equal(size_of_picture(), 0);
}
