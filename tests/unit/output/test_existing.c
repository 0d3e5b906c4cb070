/* Which files are ours, by their first and last bytes. HDF5 files without a mark are tested in
 * tests/cases/test_overwrite.py. */
#include "output/beside.h"
#include "output/existing.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[32], path[64];

static void set_up(void)
{
    strcpy(directory, "/tmp/existing-XXXXXX");
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/file", directory);
}

static void clean_up(void)
{
    unlink(path);
    assert_int_equal(rmdir(directory), 0);
}

static void put(const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

void test_existing__knows_its_own_by_their_marks(void **state)
{
    static const struct {
        const char *begin;
        int gap; /* NUL bytes between them */
        const char *end;
        enum hs_existing kind;
    } cases[] = {
        {"<?xml version=\"1.0\" ?>\n<Xdmf><!-- made by heatsolve -->", 0, "", HS_EXISTING_SIDECAR},
        {"<?xml version=\"1.0\" ?>\n<Xdmf>", 100, "", HS_EXISTING_OTHERS},
        {"<?xml?><svg>", 9000, "<!-- Software: heatsolve -->", HS_EXISTING_PICTURE},
        {"<?xml?><svg>", 9000, "</svg>", HS_EXISTING_OTHERS},
        {"%PDF-1.4", 9000, "/Creator (heatsolve)", HS_EXISTING_PICTURE},
        {"%PDF-1.4", 9000, "/Creator (latex)", HS_EXISTING_OTHERS},
        {"\x89PNG\r\n\x1a\n....IHDR..tEXtSoftware", 1, "heatsolve", HS_EXISTING_PICTURE},
        {"\x89PNG\r\n\x1a\n....IHDR..tEXtTitle", 1, "heatsolve", HS_EXISTING_OTHERS},
        {"<?xml?><svg><title>heatsolve</title>", 90, "</svg>", HS_EXISTING_OTHERS},
        {"notes on heatsolve", 100, "heatsolve", HS_EXISTING_OTHERS},
    };
    set_up();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const size_t first = strlen(cases[i].begin), last = strlen(cases[i].end);
        const size_t size = first + (size_t)cases[i].gap + last;
        char *bytes = calloc(size, 1);
        memcpy(bytes, cases[i].begin, first);
        memcpy(bytes + size - last, cases[i].end, last);
        put(bytes, size);
        free(bytes);
        assert_int_equal(hs_existing_at(path, true), cases[i].kind);
    }
    clean_up();
}

/* A part that was cut off in the middle of its mark is recognised as well; a shorter one is not. */
void test_existing__knows_hdf5_files_by_their_mark_even_cut(void **state)
{
    set_up();
    for (int k = HS_EXISTING_RUN; k <= HS_EXISTING_CHECKPOINT; k++) {
        unsigned char bytes[HS_MARK_AT + HS_MARK_BYTES + 50] = {0};
        memcpy(bytes + HS_MARK_AT, hs_existing_marks[k], HS_MARK_BYTES);
        put(bytes, sizeof bytes);
        assert_int_equal(hs_existing_at(path, true), k);
        put(bytes, HS_MARK_AT + HS_MARK_BYTES / 2);
        assert_int_equal(hs_existing_at(path, true), k);
        put(bytes, HS_MARK_AT);
        assert_int_equal(hs_existing_at(path, true), HS_EXISTING_OTHERS);
        bytes[HS_MARK_AT + 40] = 'x';
        put(bytes, sizeof bytes);
        assert_int_equal(hs_existing_at(path, true), HS_EXISTING_OTHERS);
    }
    put("", 0);
    assert_int_equal(hs_existing_at(path, true), HS_EXISTING_EMPTY);
    clean_up();
    assert_int_equal(hs_existing_at(path, true), HS_EXISTING_NOTHING);
}

void test_existing__what_is_no_file_is_not_opened(void **state)
{
    set_up();
    struct hs_error err = {0};
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(hs_existing_at(path, true), HS_EXISTING_SPECIAL);
    assert_int_equal(hs_existing_check(path, HS_EXISTING_SIDECAR, "go away", &err), HS_IO);
    assert_non_null(strstr(err.text, "this is a pipe or a device, which is never replaced"));
    assert_non_null(strstr(err.text, "or go away"));
    hs_error_release(&err);
    unlink(path);
    assert_int_equal(symlink("none", path), 0);
    assert_int_equal(hs_existing_at(path, false), HS_EXISTING_SPECIAL);
    assert_int_equal(hs_existing_at(path, true), HS_EXISTING_NOTHING);
    clean_up();
}

void test_existing__a_file_written_beside_takes_the_place_of_its_own_kind_only(void **state)
{
    static const char text[] = "<?xml version=\"1.0\" ?>\n<Xdmf><!-- made by heatsolve -->";
    set_up();
    for (int again = 0; again < 2; again++)
        assert_ok(hs_beside_replace(path, HS_EXISTING_SIDECAR, text, &err));
    assert_fails(hs_beside_replace(path, HS_EXISTING_PICTURE, text, &err), HS_IO,
                 "the .xdmf file of a run");
    struct hs_beside beside; /* an incomplete one changes nothing */
    assert_ok(hs_beside_open(path, HS_EXISTING_SIDECAR, "", &beside, &err));
    assert_ok(hs_beside_close(&beside, false, &err));
    assert_int_equal(hs_existing_at(path, true), HS_EXISTING_SIDECAR);
    clean_up(); /* no part is left */
}
