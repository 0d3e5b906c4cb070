#include "core/fletcher.h"
#include "test.h"

#include <stdlib.h>

enum { MOST = 20000 };

/* By the definition: word by word, with end-around carry. */
static uint32_t plain(const unsigned char *data, size_t bytes)
{
    uint32_t words = 0, sums = 0;
    for (size_t i = 0; i < bytes; i += 2) {
        words += (uint32_t)data[i] << 8 | (i + 1 < bytes ? data[i + 1] : 0);
        words = (words & 0xffff) + (words >> 16);
        sums += words;
        sums = (sums & 0xffff) + (sums >> 16);
    }
    return sums << 16 | words;
}

static uint32_t value_of(const struct hs_fletcher *sum)
{
    unsigned char b[HS_FLETCHER_BYTES];
    hs_fletcher_put(sum, b);
    return (uint32_t)b[3] << 24 | (uint32_t)b[2] << 16 | (uint32_t)b[1] << 8 | b[0];
}

static void fill(unsigned char *data, int kind)
{
    srand(1);
    for (int i = 0; i < MOST; i++)
        data[i] = (unsigned char)(kind == 0 ? 0 : kind == 1 ? 255 : kind == 2 ? rand() >> 7 : i);
}

void test_fletcher__of_any_length_is_that_of_the_definition(void **state)
{
    unsigned char data[MOST];
    for (int kind = 0; kind < 4; kind++) {
        fill(data, kind);
        for (size_t bytes = 0; bytes <= MOST; bytes += bytes < 400 ? 1 : 77) {
            struct hs_fletcher sum = {0};
            hs_fletcher_add(&sum, data, bytes);
            assert_int_equal(value_of(&sum), plain(data, bytes));
        }
    }
}

void test_fletcher__does_not_depend_on_the_pieces(void **state)
{
    unsigned char data[MOST];
    fill(data, 2);
    for (int trial = 0; trial < 300; trial++) {
        struct hs_fletcher sum = {0};
        const size_t bytes = (size_t)(rand() % MOST);
        for (size_t at = 0; at < bytes;) {
            size_t piece = 2 * (size_t)(rand() % (trial < 150 ? 20 : 4000));
            piece = piece < bytes - at ? piece : bytes - at;
            hs_fletcher_add(&sum, data + at, piece);
            at += piece;
        }
        assert_int_equal(value_of(&sum), plain(data, bytes));
    }
}

void test_fletcher__zeros_are_counted_without_being_there(void **state)
{
    unsigned char data[MOST];
    for (size_t begin = 0; begin < MOST; begin += 998) {
        fill(data, 2);
        for (size_t i = begin; i < MOST; i++)
            data[i] = 0;
        struct hs_fletcher sum = {0};
        hs_fletcher_add(&sum, data, begin);
        hs_fletcher_add_zeros(&sum, MOST - begin);
        assert_int_equal(value_of(&sum), plain(data, MOST));
    }
}

/* Nothing overflows, and the count is taken modulo 65535. */
void test_fletcher__takes_any_number_of_zeros(void **state)
{
    struct hs_fletcher sum = {0};
    const unsigned char one[2] = {0, 1};
    hs_fletcher_add(&sum, one, 2);
    hs_fletcher_add_zeros(&sum, (size_t)2 * 65535 * 70000);
    assert_int_equal(value_of(&sum), 0x00010001);
    hs_fletcher_add_zeros(&sum, 2);
    assert_int_equal(value_of(&sum), 0x00020001);
}

void test_fletcher__of_two_parts_is_joined_from_theirs(void **state)
{
    unsigned char data[MOST];
    for (int kind = 0; kind < 4; kind++) {
        fill(data, kind);
        for (size_t cut = 0; cut <= MOST; cut += 1234) {
            struct hs_fletcher sum = {0}, rest = {0};
            hs_fletcher_add(&sum, data, cut);
            hs_fletcher_add(&rest, data + cut, MOST - cut);
            hs_fletcher_join(&sum, &rest, MOST - cut);
            assert_int_equal(value_of(&sum), plain(data, MOST));
        }
    }
}
