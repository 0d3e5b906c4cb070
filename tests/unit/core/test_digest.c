#include "core/digest.h"
#include "test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const int64_t small = 16 << 20, block = 64 << 10;

static char path[32];
static int file;

static void set_up(int64_t bytes)
{
    strcpy(path, "/tmp/digest-XXXXXX");
    file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(ftruncate(file, bytes), 0);
}

static void tear_down(void)
{
    close(file);
    unlink(path);
}

/* Whether changing `bytes` bytes from `at` on changes the digest. */
static bool sees(int64_t at, size_t bytes)
{
    const struct hs_digest before = hs_digest_of_file(path);
    char *other = malloc(bytes);
    memset(other, 1, bytes);
    assert_int_equal(pwrite(file, other, bytes, at), bytes);
    const struct hs_digest after = hs_digest_of_file(path);
    memset(other, 0, bytes);
    assert_int_equal(pwrite(file, other, bytes, at), bytes);
    assert_true(hs_digest_is(before, hs_digest_of_file(path)));
    free(other);
    return !hs_digest_is(before, after);
}

void test_digest__of_a_small_file_sees_every_byte(void **state)
{
    set_up(small);
    const int64_t at[] = {0, block - 1, block, small / 2 + 1, small - block - 1, small - 1};
    for (size_t n = 0; n < sizeof at / sizeof *at; n++)
        assert_true(sees(at[n], 1));
    tear_down();
    set_up(small + 1);
    assert_true(sees(small, 1));
    tear_down();
}

void test_digest__of_a_large_file_sees_ends_and_what_is_longer_than_a_gap(void **state)
{
    const int64_t size = 5 * small + 777, gap = size / 255;
    set_up(size);
    assert_true(sees(0, 1));
    assert_true(sees(size - 1, 1));
    for (int64_t at = 0; at + gap <= size; at += 37 * gap + 1000)
        assert_true(sees(at, (size_t)gap));
    assert_false(sees(block, 1)); /* which lies between blocks */
    tear_down();
}

void test_digest__is_of_size_and_content(void **state)
{
    set_up(3);
    assert_int_equal(pwrite(file, "abc", 3, 0), 3);
    assert_true(hs_digest_is(hs_digest_of_file(path), hs_digest_of("abc", 3)));
    assert_false(hs_digest_is(hs_digest_of_file(path), hs_digest_of("abd", 3)));
    tear_down();
    assert_int_equal(hs_digest_of_file(path).bytes, -1);
    set_up(5 * small);
    const struct hs_digest before = hs_digest_of_file(path);
    assert_int_equal(ftruncate(file, 5 * small + 1), 0);
    assert_false(hs_digest_is(before, hs_digest_of_file(path)));
    tear_down();
}
