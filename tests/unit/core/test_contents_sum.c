#include "core/contents_sum.h"
#include "test.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BASE = 200, LENGTH = 70000, ROOT_AT = 64 };

static unsigned char superblock[HS_SUPERBLOCK_BYTES] = "\211HDF\r\n\032\n";
static unsigned char contents[LENGTH];

static FILE *write_all(void)
{
    for (int i = 0; i < LENGTH; i++)
        contents[i] = (unsigned char)(i * 7 + i / 256);
    memset(superblock + ROOT_AT, 0, 8);
    superblock[ROOT_AT] = BASE + HS_CONTENTS_SUM_BYTES;
    assert_int_equal(hs_contents_sum_make(superblock, BASE, contents, LENGTH), 0);
    FILE *file = tmpfile();
    fwrite(superblock, 1, sizeof superblock, file);
    fseek(file, BASE, SEEK_SET);
    fwrite(contents, 1, sizeof contents, file);
    fflush(file);
    return file;
}

static enum hs_contents_sum check(FILE *file)
{
    unsigned char read[HS_SUPERBLOCK_BYTES];
    return hs_contents_sum_check(fileno(file), read);
}

static void flip(FILE *file, long at, int bit)
{
    unsigned char byte;
    assert_int_equal(pread(fileno(file), &byte, 1, at), 1);
    byte ^= (unsigned char)(1 << bit);
    assert_int_equal(pwrite(fileno(file), &byte, 1, at), 1);
}

/* If a bit of the signature, of the root's address or of the record's name flips, the file is no
 * longer one of these. A reader that insists on a checksum refuses that, too. */
void test_contents_sum__sees_every_bit(void **state)
{
    FILE *file = write_all();
    assert_int_equal(check(file), HS_CONTENTS_SUM_FITS);
    for (long at = 0; at < BASE + LENGTH; at += at < BASE + 200 ? 1 : 997)
        for (int bit = 0; bit < 8; bit++) {
            const bool between = at >= HS_SUPERBLOCK_BYTES && at < BASE;
            const bool name =
                at < 9 || (at >= ROOT_AT && at < ROOT_AT + 8) || (at >= BASE && at < BASE + 8);
            flip(file, at, bit);
            const enum hs_contents_sum sum = check(file);
            flip(file, at, bit);
            assert_int_equal(sum, between ? HS_CONTENTS_SUM_FITS
                                  : name  ? HS_CONTENTS_SUM_NONE
                                          : HS_CONTENTS_SUM_WRONG);
        }
    assert_int_equal(check(file), HS_CONTENTS_SUM_FITS);
    fclose(file);
}

void test_contents_sum__of_a_file_cut_short_is_wrong(void **state)
{
    FILE *file = write_all();
    assert_int_equal(ftruncate(fileno(file), BASE + LENGTH - 1), 0);
    assert_int_equal(check(file), HS_CONTENTS_SUM_WRONG);
    assert_int_equal(ftruncate(fileno(file), BASE + 10), 0);
    assert_int_equal(check(file), HS_CONTENTS_SUM_NONE);
    assert_int_equal(ftruncate(fileno(file), 0), 0);
    assert_int_equal(check(file), HS_CONTENTS_SUM_NONE);
    fclose(file);
}

void test_contents_sum__is_where_the_superblock_leads(void **state)
{
    fclose(write_all());
    superblock[ROOT_AT]++;
    assert_int_not_equal(hs_contents_sum_make(superblock, BASE, contents, LENGTH), 0);
}

void test_contents_sum__there_is_none_of_a_file_that_cannot_be_opened(void **state)
{
    assert_int_equal(hs_contents_sum_of("/nonexistent"), HS_CONTENTS_SUM_NONE);
    assert_int_equal(hs_contents_sum_of("/dev/null"), HS_CONTENTS_SUM_NONE);
}
