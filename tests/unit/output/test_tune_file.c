#include "output/tune_file.h"
#include "test.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- a place of our own ---------------------------------------------------------------------- */

static char place[64];

static void set_up(void)
{
    strcpy(place, "/tmp/heatsolve-XXXXXX");
    assert_non_null(mkdtemp(place));
    setenv("XDG_CACHE_HOME", place, 1);
}

static void clean_up(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", place);
    assert_int_equal(system(command), 0);
}

static struct hs_tuning sample(void)
{
    struct hs_tuning out = {
        .about = {.device = "2 threads, a CPU",
                  .driver = "none",
                  .version = "0.1.0, commit abc",
                  .about = "3D, 9 x 9 x 9 nodes, radius 1"},
        .row = {{.kernel = "fast", .seconds = 1.25e-4, .samples = 9},
                {.kernel = "slow", .seconds = 3.0, .samples = 1},
                {.kernel = "broken", .seconds = NAN, .failure = "not enough memory: 12 bytes"}},
        .count = 3,
        .seconds = 2.5};
    return out;
}

static struct hs_tuning found;

static char *path_of(const struct hs_tuning *tuning)
{
    char *path = hs_tune_file_path(&tuning->about);
    assert_non_null(path);
    return path;
}

/* False, and found.why says why, if it cannot be written. */
static bool write_file(const struct hs_tuning *tuning)
{
    found = *tuning;
    return hs_tune_file_write(&found);
}

static void keep(const struct hs_tuning *tuning)
{
    if (!write_file(tuning))
        fail_msg("%s", found.why);
}

/* Replaces the file's contents. */
static void put(const struct hs_tuning *tuning, const char *text, size_t length)
{
    char *path = path_of(tuning);
    FILE *file = fopen(path, "w");
    assert_int_equal(fwrite(text, 1, length, file), length);
    fclose(file);
    free(path);
}

static size_t get(const struct hs_tuning *tuning, char *out, size_t size)
{
    char *path = path_of(tuning);
    FILE *file = fopen(path, "r");
    const size_t length = fread(out, 1, size, file);
    fclose(file);
    free(path);
    return length;
}

static bool recall(const struct hs_tuning *tuning)
{
    return hs_tune_file_read(&tuning->about, &found);
}

#define assert_says(text, part)                                                                    \
    do {                                                                                           \
        if (!strstr(text, part))                                                                   \
            fail_msg("\"%s\" does not say \"%s\"", text, part);                                    \
    } while (0)

/* ---- keeping --------------------------------------------------------------------------------- */

void test_tune_file__what_is_kept_is_found(void **state)
{
    set_up();
    const struct hs_tuning tuning = sample();
    assert_false(recall(&tuning));
    assert_string_equal(found.why, ""); /* no file: not worth a message */
    keep(&tuning);
    assert_true(recall(&tuning));
    assert_string_equal(found.why, "");
    assert_int_equal(found.count, 3);
    assert_string_equal(found.row[0].kernel, "fast");
    assert_true(found.row[0].seconds == 1.25e-4 && found.row[0].samples == 9);
    assert_string_equal(found.row[1].kernel, "slow");
    assert_true(found.row[1].seconds == 3.0 && found.row[1].samples == 1);
    assert_string_equal(found.row[2].kernel, "broken");
    assert_true(isnan(found.row[2].seconds));
    assert_string_equal(found.row[2].failure, "not enough memory: 12 bytes");
    assert_true(found.seconds == 2.5);
    clean_up();
}

void test_tune_file__new_finding_replaces_the_old(void **state)
{
    set_up();
    struct hs_tuning tuning = sample();
    keep(&tuning);
    strcpy(tuning.row[0].kernel, "faster");
    tuning.count = 1;
    keep(&tuning);
    assert_true(recall(&tuning));
    assert_int_equal(found.count, 1);
    assert_string_equal(found.row[0].kernel, "faster");
    clean_up();
}

void test_tune_file__cases_and_devices_have_files_of_their_own(void **state)
{
    set_up();
    const struct hs_tuning tuning = sample();
    keep(&tuning);
    struct hs_tuning other = sample();
    strcpy(other.about.about, "3D, 9 x 9 x 10 nodes, radius 1");
    assert_false(recall(&other));
    assert_string_equal(found.why, "");
    other = sample();
    strcpy(other.about.device, "1 thread, a CPU");
    assert_false(recall(&other));
    assert_string_equal(found.why, "");
    clean_up();
}

/* ---- where ----------------------------------------------------------------------------------- */

static void assert_path_begins(const char *begin)
{
    const struct hs_tuning tuning = sample();
    char *path = path_of(&tuning);
    if (strncmp(path, begin, strlen(begin)) != 0)
        fail_msg("%s does not begin with %s", path, begin);
    free(path);
}

void test_tune_file__lies_where_the_specification_says(void **state)
{
    setenv("XDG_CACHE_HOME", "/some/cache", 1);
    setenv("HOME", "/at/home", 1);
    assert_path_begins("/some/cache/heatsolve/tune-");
    setenv("XDG_CACHE_HOME", "relative/cache", 1);
    assert_path_begins("/at/home/.cache/heatsolve/tune-");
    setenv("XDG_CACHE_HOME", "", 1);
    assert_path_begins("/at/home/.cache/heatsolve/tune-");
    unsetenv("XDG_CACHE_HOME");
    assert_path_begins("/at/home/.cache/heatsolve/tune-");
    unsetenv("HOME");
    const struct hs_tuning tuning = sample();
    assert_null(hs_tune_file_path(&tuning.about));
    assert_false(recall(&tuning));
    assert_string_equal(found.why, "");
    assert_false(write_file(&tuning));
    assert_says(found.why, "neither XDG_CACHE_HOME nor HOME");
}

void test_tune_file__directories_are_made_for_the_user_alone(void **state)
{
    set_up();
    char deep[96];
    snprintf(deep, sizeof deep, "%s/a/b", place);
    setenv("XDG_CACHE_HOME", deep, 1);
    const struct hs_tuning tuning = sample();
    keep(&tuning);
    struct stat about;
    assert_int_equal(stat(deep, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0700);
    assert_true(recall(&tuning));
    clean_up();
}

/* A file stands where the directory would be; that is refused to root as well. */
void test_tune_file__where_it_cannot_be_it_says_why(void **state)
{
    set_up();
    const struct hs_tuning tuning = sample();
    char below[96];
    snprintf(below, sizeof below, "%s/file", place);
    fclose(fopen(below, "w"));
    setenv("XDG_CACHE_HOME", below, 1);
    assert_false(write_file(&tuning));
    assert_says(found.why, "/file/heatsolve/tune-");
    assert_says(found.why, "cannot write: Not a directory");
    assert_false(recall(&tuning));
    assert_string_equal(found.why, "");
    clean_up();
}

/* ---- what cannot be used --------------------------------------------------------------------- */

void test_tune_file__other_version_driver_or_case_is_not_used(void **state)
{
    set_up();
    const struct hs_tuning tuning = sample();
    keep(&tuning);
    struct hs_tuning now = sample();
    strcpy(now.about.version, "0.2.0, commit def");
    assert_false(recall(&now));
    assert_says(found.why, "it is from heatsolve 0.1.0, commit abc, this is 0.2.0, commit def");
    now = sample();
    strcpy(now.about.driver, "CUDA 13.1");
    assert_false(recall(&now));
    assert_says(found.why, "it is for driver none, this is CUDA 13.1");
    char text[4096];
    const size_t length = get(&tuning, text, sizeof text);
    text[length] = '\0';
    memcpy(strstr(text, "radius 1"), "radius 2", 8);
    put(&tuning, text, length);
    assert_false(recall(&tuning));
    assert_says(found.why, "it is for another device or case");
    clean_up();
}

void test_tune_file__other_format_is_not_used(void **state)
{
    set_up();
    const struct hs_tuning tuning = sample();
    keep(&tuning);
    char text[4096];
    const size_t length = get(&tuning, text, sizeof text);
    *strchr(text, '1') = '2';
    put(&tuning, text, length);
    assert_false(recall(&tuning));
    assert_says(found.why, "it does not begin with \"heatsolve tuning, format 1\"");
    clean_up();
}

void test_tune_file__cut_anywhere_is_not_used(void **state)
{
    set_up();
    const struct hs_tuning tuning = sample();
    keep(&tuning);
    char text[4096];
    const size_t length = get(&tuning, text, sizeof text);
    for (size_t n = 0; n < length; n++) {
        put(&tuning, text, n);
        if (recall(&tuning))
            fail_msg("taken when cut to %zu of %zu bytes", n, length);
        assert_true(found.why[0] != '\0');
    }
    put(&tuning, text, length);
    assert_true(recall(&tuning));
    clean_up();
}

/* No changed byte may crash it; what is still accepted must be a valid finding. */
void test_tune_file__any_byte_may_be_wrong(void **state)
{
    set_up();
    const struct hs_tuning tuning = sample();
    keep(&tuning);
    char text[4096], bad[4096];
    const size_t length = get(&tuning, text, sizeof text);
    static const char wrong[] = {'\0', '\n', ' ', '-', '9', 'x', '\xff'};
    for (size_t n = 0; n < length; n++)
        for (size_t w = 0; w < sizeof wrong; w++) {
            memcpy(bad, text, length);
            bad[n] = wrong[w];
            put(&tuning, bad, length);
            if (!recall(&tuning))
                assert_true(found.why[0] != '\0');
            else
                assert_true(found.count > 0 && found.row[0].seconds > 0.0 &&
                            isfinite(found.row[0].seconds) && found.row[0].kernel[0]);
        }
    clean_up();
}

static void assert_damaged(const struct hs_tuning *tuning, const char *rows)
{
    char text[1024];
    const struct hs_tune_case *about = &tuning->about;
    snprintf(text, sizeof text,
             "heatsolve tuning, format 1\nversion %s\ndriver %s\ndevice %s\ncase %s\nseconds 1\n%s",
             about->version, about->driver, about->device, about->about, rows);
    put(tuning, text, strlen(text));
    if (recall(tuning))
        fail_msg("taken: %s", rows);
    assert_says(found.why, "it is damaged");
}

void test_tune_file__rows_that_make_no_sense_are_not_used(void **state)
{
    set_up();
    const struct hs_tuning tuning = sample();
    keep(&tuning);
    assert_damaged(&tuning, "end\n");
    assert_damaged(&tuning, "kernel a nan 3\nend\n");
    assert_damaged(&tuning, "kernel a inf 3\nend\n");
    assert_damaged(&tuning, "kernel a -1 3\nend\n");
    assert_damaged(&tuning, "kernel a 0 3\nend\n");
    assert_damaged(&tuning, "kernel a 1 3\nkernel b -1 3\nend\n");
    assert_damaged(&tuning, "kernel a 1 0\nend\n");
    assert_damaged(&tuning, "kernel a 1 3 more\nend\n");
    assert_damaged(&tuning, "failed a why\nend\n"); /* the first must be one that runs */
    assert_damaged(&tuning, "kernel a 1 3\nend\nmore\n");
    assert_damaged(&tuning, "kernel a 1 3\nother\nend\n");
    clean_up();
}

void test_tune_file__more_kernels_than_there_can_be_are_not_used(void **state)
{
    set_up();
    const struct hs_tuning tuning = sample();
    keep(&tuning);
    char text[4096];
    get(&tuning, text, sizeof text);
    char *at = strstr(text, "kernel fast");
    for (int n = 0; n <= HS_TUNE_MOST; n++)
        at += sprintf(at, "kernel a 1 3\n");
    at += sprintf(at, "end\n");
    put(&tuning, text, (size_t)(at - text));
    assert_false(recall(&tuning));
    assert_says(found.why, "it is damaged");
    clean_up();
}

void test_tune_file__huge_file_or_a_directory_is_not_used(void **state)
{
    set_up();
    const struct hs_tuning tuning = sample();
    keep(&tuning);
    char *huge = malloc(1 << 20);
    memset(huge, 'a', 1 << 20);
    put(&tuning, huge, 1 << 20);
    free(huge);
    assert_false(recall(&tuning));
    assert_says(found.why, "it is damaged");
    char *path = path_of(&tuning);
    unlink(path);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_false(recall(&tuning));
    assert_says(found.why, "directory"); /* "Is a directory" */
    assert_false(write_file(&tuning));
    assert_says(found.why, "cannot write: ");
    free(path);
    clean_up();
}

/* ---- two at once ----------------------------------------------------------------------------- */

static int files_in(const char *directory)
{
    DIR *open = opendir(directory);
    int count = 0;
    for (struct dirent *entry = readdir(open); entry; entry = readdir(open))
        count += entry->d_name[0] != '.';
    closedir(open);
    return count;
}

/* Findings of very different lengths, so that one that overwrites another would show. */
static int write_many(int writer)
{
    struct hs_tuning tuning = sample();
    if (writer % 2) {
        tuning.count = 40;
        for (int n = 0; n < tuning.count; n++) {
            tuning.row[n] = tuning.row[0];
            snprintf(tuning.row[n].kernel, sizeof tuning.row[n].kernel, "kernel_%d", n);
        }
    }
    for (int n = 0; n < 200; n++)
        if (!hs_tune_file_write(&tuning))
            return 1;
    return 0;
}

void test_tune_file__writers_at_once_leave_a_whole_file(void **state)
{
    enum { WRITERS = 4 };
    set_up();
    const struct hs_tuning tuning = sample();
    keep(&tuning);
    pid_t writer[WRITERS];
    for (int n = 0; n < WRITERS; n++) {
        writer[n] = fork();
        if (writer[n] == 0)
            _exit(write_many(n));
    }
    for (int n = 0; n < 400; n++)
        if (!recall(&tuning))
            fail_msg("%s", found.why);
    for (int n = 0; n < WRITERS; n++) {
        int status = 0;
        waitpid(writer[n], &status, 0);
        assert_int_equal(status, 0);
    }
    assert_true(recall(&tuning));
    assert_true(found.count == 3 || found.count == 40);
    char directory[96];
    snprintf(directory, sizeof directory, "%s/heatsolve", place);
    assert_int_equal(files_in(directory), 1); /* no other files are left */
    clean_up();
}
