#include "core/device.h"
#include "test.h"

#include <string.h>

static struct hs_geometry block(int threads, int64_t shared)
{
    return (struct hs_geometry){.threads = {threads, 1, 1},
                                .shared_bytes = shared,
                                .points_updated = 1000000,
                                .flops_per_point = 13.0};
}

void test_device__is_found_by_name_whatever_its_case(void **state)
{
    assert_string_equal(hs_device_find("h200")->name, "H200");
    assert_string_equal(hs_device_find("RTX 4090")->name, "RTX 4090");
    assert_null(hs_device_find("H20"));
    assert_null(hs_device_find(""));
}

/* By hand, from the programming guide's limits for 9.0. */
void test_device__occupancy_is_what_its_tightest_limit_allows(void **state)
{
    const struct hs_device_limits *h200 = hs_device_find("H200");
    struct hs_geometry g = block(512, 0);
    struct hs_occupancy o = hs_device_occupancy(h200, &g, 0);
    assert_int_equal(o.blocks, 4);
    assert_string_equal(o.bound, "threads");
    assert_near(o.share, 1.0, 0.0);
    g = block(32, 0);
    o = hs_device_occupancy(h200, &g, 0);
    assert_int_equal(o.blocks, 32);
    assert_string_equal(o.bound, "blocks");
    assert_near(o.share, 0.5, 0.0);
    g = block(128, 0);
    o = hs_device_occupancy(h200, &g, 96); /* 65536 / (96*32) = 21 warps, 5 blocks of 4 */
    assert_int_equal(o.blocks, 5);
    assert_string_equal(o.bound, "registers");
    g = block(256, 60 * 1024); /* 61 KiB each, including what the system takes, of 228 */
    o = hs_device_occupancy(h200, &g, 0);
    assert_int_equal(o.blocks, 3);
    assert_string_equal(o.bound, "shared memory");
    g = block(256, 300 * 1024);
    assert_int_equal(hs_device_occupancy(h200, &g, 0).blocks, 0);
}

void test_device__roofline_is_the_longer_of_two_times(void **state)
{
    const struct hs_device_limits *t4 = hs_device_find("T4");
    const struct hs_geometry g = block(256, 0);
    /* float is bound by memory: 8 bytes a point at 320 GB/s */
    assert_near(hs_device_roofline(t4, &g, HS_FLOAT), 8e6 / 320e9, 1e-12);
    /* double by its arithmetic: 13 operations at 0.253 TFLOP/s */
    assert_near(hs_device_roofline(t4, &g, HS_DOUBLE), 13e6 / 0.253e12, 1e-10);
}
