#include "output/files.h"
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void assert_sibling(const char *path, const char *ending, const char *expected)
{
    char *out = hs_file_sibling(path, ending);
    assert_string_equal(out, expected);
    free(out);
}

void test_files__sibling_replaces_h5_only(void **state)
{
    assert_sibling("out/a.h5", ".xdmf", "out/a.xdmf");
    assert_sibling("a.vtkhdf", ".checkpoint.h5", "a.vtkhdf.checkpoint.h5");
    assert_sibling("out.h5/a", ".xdmf", "out.h5/a.xdmf");
    assert_sibling("a.b.hdf5", ".xdmf", "a.b.hdf5.xdmf");
    assert_sibling("a.h5.h5", ".xdmf", "a.h5.xdmf");
    assert_sibling("h5", ".xdmf", "h5.xdmf");
    assert_sibling("run.1", ".xdmf", "run.1.xdmf");
    assert_sibling("d/.h5", ".xdmf", "d/.h5.xdmf");
}

static void assert_twin(const char *path, const char *expected)
{
    char *out = hs_file_twin(path);
    assert_string_equal(out, expected);
    free(out);
}

void test_files__a_twin_is_with_h5_and_without(void **state)
{
    assert_twin("out/a.h5", "out/a");
    assert_twin("out/a", "out/a.h5");
    assert_twin("a.vtkhdf", "a.vtkhdf.h5");
    assert_twin(".h5", ".h5.h5");
}

void test_files__failures_name_path_reason_and_remedy(void **state)
{
    static const struct {
        int number;
        const char *reason, *remedy;
    } cases[] = {{EACCES, "Permission denied", "make it writable"},
                 {EROFS, "Read-only", "set output.file"},
                 {ENOSPC, "No space left", "free space"},
                 {EFBIG, "too large", "ulimit -f"},
                 {EIO, "Input/output error", "set output.file"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hs_error err = {0};
        assert_int_equal(hs_file_failed("x/y.h5", "write", cases[i].number, 1234, &err), HS_IO);
        assert_non_null(strstr(err.text, "x/y.h5: cannot write"));
        assert_non_null(strstr(err.text, cases[i].reason));
        assert_non_null(strstr(err.text, cases[i].remedy));
        hs_error_release(&err);
    }
}

void test_files__a_full_disk_tells_bytes_needed_and_free(void **state)
{
    assert_fails(hs_file_failed("/y.h5", "write", ENOSPC, 1234, &err), HS_IO,
                 "1234 bytes are needed and ");
}
