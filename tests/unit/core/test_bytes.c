#include "core/bytes.h"
#include "test.h"

void test_bytes__are_named_in_the_largest_unit_that_is_not_above_them(void **state)
{
    static const struct {
        double bytes;
        const char *name;
    } cases[] = {{0.0, "0 bytes"},       {1023.0, "1023 bytes"},
                 {1024.0, "1.00 KiB"},   {1.5 * 1048576.0, "1.50 MiB"},
                 {0x1p30, "1.00 GiB"},   {0x1p43, "8.00 TiB"},
                 {0x1p50, "1.00 PiB"},   {5.1456960051457818624e19, "44.63 EiB"},
                 {0x1p72, "4096.00 EiB"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[HS_BYTES_TEXT];
        hs_bytes_name(cases[i].bytes, text, sizeof text);
        assert_string_equal(text, cases[i].name);
    }
}
