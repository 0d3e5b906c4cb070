#include "core/regular.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[32];

static char *name_of(const char *name)
{
    static char path[64];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static void put(const char *name)
{
    FILE *file = fopen(name_of(name), "w");
    assert_non_null(file);
    fputs("text", file);
    fclose(file);
}

static void set_up(void)
{
    strcpy(directory, "/tmp/regular-XXXXXX");
    assert_non_null(mkdtemp(directory));
}

void test_regular__opens_files_and_says_why_not(void **state)
{
    set_up();
    put("file");
    const char *why = NULL;
    char text[8] = "";
    FILE *file = hs_regular_stream(name_of("file"), false, &why);
    assert_non_null(fgets(text, sizeof text, file));
    assert_string_equal(text, "text");
    fclose(file);
    assert_int_equal(hs_regular_open(name_of("none"), false, &why), -1);
    assert_int_equal(errno, ENOENT);
    assert_string_equal(why, strerror(ENOENT));
    assert_int_equal(hs_regular_open(directory, true, &why), -1);
    assert_string_equal(why, strerror(EISDIR));
    unlink(name_of("file"));
    rmdir(directory);
}

/* Nobody writes to the pipe: a plain open() would not return. */
void test_regular__refuses_pipes_at_once(void **state)
{
    set_up();
    const char *why = NULL;
    assert_int_equal(mkfifo(name_of("pipe"), 0600), 0);
    assert_int_equal(hs_regular_open(name_of("pipe"), true, &why), -1);
    assert_int_equal(errno, 0);
    assert_non_null(strstr(why, "a pipe"));
    assert_int_equal(hs_regular_open("/dev/null", false, &why), -1);
    assert_non_null(strstr(why, "a device"));
    unlink(name_of("pipe"));
    rmdir(directory);
}

/* A launcher or an ssh may hand one over as standard input. The system says of it that there is
 * none. */
void test_regular__says_that_a_socket_is_one(void **state)
{
    int ends[2];
    char path[32];
    const char *why = NULL;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    for (int streams = 0; streams < 2; streams++) {
        assert_int_equal(hs_regular_open(path, streams, &why), -1);
        assert_int_equal(errno, 0);
        assert_non_null(strstr(why, "a socket"));
    }
    close(ends[0]);
    close(ends[1]);
}

void test_regular__takes_descriptors_that_a_shell_hands_over(void **state)
{
    int ends[2];
    char path[32], text[8] = "";
    const char *why = NULL;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "text", 4), 4);
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    assert_int_equal(hs_regular_open(path, false, &why), -1);
    FILE *file = hs_regular_stream(path, true, &why);
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    assert_string_equal(text, "text");
    fclose(file);
    close(ends[0]);
}

void test_regular__knows_a_file_by_its_other_names(void **state)
{
    set_up();
    put("file");
    put("other");
    char *first = strdup(name_of("file"));
    assert_int_equal(symlink(first, name_of("link")), 0);
    assert_true(hs_regular_same(first, name_of("link")));
    assert_int_equal(link(first, name_of("again")), 0);
    assert_true(hs_regular_same(first, name_of("again")));
    assert_false(hs_regular_same(first, name_of("other")));
    assert_false(hs_regular_same(first, name_of("none")));
    static const char *const names[] = {"file", "other", "link", "again"};
    for (int i = 0; i < 4; i++)
        unlink(name_of(names[i]));
    rmdir(directory);
    free(first);
}

/* As where there is no memory for a stream: this descriptor cannot be written. */
void test_regular__a_descriptor_that_gets_no_stream_is_closed(void **state)
{
    const int file = open("/dev/null", O_RDONLY);
    assert_true(file >= 0);
    assert_null(hs_regular_adopt(file, "w"));
    assert_int_equal(errno, EINVAL);
    assert_int_equal(fcntl(file, F_GETFD), -1);
    assert_null(hs_regular_adopt(-1, "w"));
}
