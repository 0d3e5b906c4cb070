/* With /bin/sh in python's place, so that a script is a line of shell. */
#include "engine/peers.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

extern const struct hs_backend hs_backend_cpu;

static char folder[64];

static void write_script(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s.py", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void begin(void)
{
    snprintf(folder, sizeof folder, "/tmp/heatsolve-peers-test-XXXXXX");
    assert_non_null(mkdtemp(folder));
    setenv("HEATSOLVE_PEERS", folder, 1);
    setenv("PYTHON", "/bin/sh", 1);
}

static void end(const struct hs_peers *peers)
{
    for (int n = 0; n < peers->count; n++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%.60s.py", folder, peers->peer[n].name);
        unlink(path);
    }
    unsetenv("HEATSOLVE_PEERS");
    unsetenv("PYTHON");
}

/* The only script's result. */
static struct hs_peer run_one(const char *text, double seconds)
{
    struct hs_error err;
    hs_error_init(&err);
    begin();
    write_script("one", text);
    static struct hs_peers peers;
    assert_int_equal(hs_peers_find(NULL, &peers, &err), HS_OK);
    assert_int_equal(peers.count, 1);
    assert_string_equal(peers.peer[0].name, "one");
    const struct hs_bench_request request = {.dims = 2,
                                             .points = {40, 30, 1},
                                             .radius = 1,
                                             .precision = HS_FLOAT,
                                             .repeats = 7,
                                             .threads = 2};
    assert_int_equal(hs_peers_run(&peers, &peers.peer[0], &request, &hs_backend_cpu, seconds, &err),
                     HS_OK);
    assert_int_equal(err.count, 0);
    end(&peers);
    assert_int_equal(rmdir(folder), 0);
    hs_error_release(&err);
    return peers.peer[0];
}

void test_peers__an_answer_is_read(void **state)
{
    (void)state;
    const struct hs_peer peer =
        run_one("echo noise; echo '{\"name\": \"one\", \"version\": \"soft \\\"1.2\\\"\", "
                "\"device\": \"a d\\u00e9vice\", \"apart\": 2.5e-07, \"samples\": 15, "
                "\"seconds\": 2e-3, \"seconds_min\": 1e-3, \"seconds_max\": 4e-3}'",
                20.0);
    assert_int_equal(peer.outcome, HS_PEER_TIMED);
    assert_string_equal(peer.version, "soft \"1.2\"");
    assert_string_equal(peer.device, "a d vice");
    assert_int_equal(peer.seconds.count, 15);
    assert_true(peer.seconds.min == 1e-3 && peer.seconds.median == 2e-3 &&
                peer.seconds.max == 4e-3 && peer.apart == 2.5e-07);
}

void test_peers__what_is_absent_says_so(void **state)
{
    (void)state;
    const struct hs_peer peer = run_one("echo '{\"name\": \"x\", \"absent\": \"no GPU\"}'", 20.0);
    assert_int_equal(peer.outcome, HS_PEER_ABSENT);
    assert_string_equal(peer.why, "no GPU");
}

void test_peers__failures_are_one_line(void **state)
{
    (void)state;
    struct hs_peer peer = run_one("echo '{\"error\": \"differs from numpy\"}'", 20.0);
    assert_int_equal(peer.outcome, HS_PEER_FAILED);
    assert_string_equal(peer.why, "differs from numpy");
    peer = run_one("echo Traceback >&2; echo 'Error: its reason' >&2; echo >&2; exit 3", 20.0);
    assert_int_equal(peer.outcome, HS_PEER_FAILED);
    assert_string_equal(peer.why, "Error: its reason");
    peer = run_one("exit 0", 20.0);
    assert_int_equal(peer.outcome, HS_PEER_FAILED);
    assert_string_equal(peer.why, "no answer");
    peer = run_one("kill -SEGV $$", 20.0);
    assert_int_equal(peer.outcome, HS_PEER_FAILED);
}

void test_peers__a_time_that_is_none_is_a_failure(void **state)
{
    (void)state;
    static const char *const answers[] = {
        "echo '{\"seconds\": 0, \"seconds_min\": 1, \"seconds_max\": 1, \"samples\": 3}'",
        "echo '{\"seconds\": NaN, \"seconds_min\": 1, \"seconds_max\": 1, \"samples\": 3}'",
        "echo '{\"seconds\": 1, \"seconds_min\": 1, \"seconds_max\": 1, \"samples\": 0}'",
        "echo '{\"seconds\": 1, \"samples\": 3}'",
        "echo '{}'",
    };
    for (size_t n = 0; n < sizeof answers / sizeof *answers; n++)
        assert_int_equal(run_one(answers[n], 20.0).outcome, HS_PEER_FAILED);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void test_peers__a_slow_one_is_ended(void **state)
{
    (void)state;
    const double start = now();
    const struct hs_peer peer = run_one("sleep 60", 0.3);
    assert_int_equal(peer.outcome, HS_PEER_FAILED);
    assert_non_null(strstr(peer.why, "longer than 0.3 s"));
    assert_true(now() - start < 30.0);
}

/* One that leaves a process behind, which holds its output open. */
void test_peers__what_it_left_behind_is_not_waited_for(void **state)
{
    (void)state;
    const double start = now();
    const struct hs_peer peer = run_one("sleep 60 & echo '{\"absent\": \"left\"}'", 50.0);
    assert_int_equal(peer.outcome, HS_PEER_ABSENT);
    assert_true(now() - start < 30.0);
}

void test_peers__more_than_fits_is_dropped(void **state)
{
    (void)state;
    const struct hs_peer peer = run_one("i=0; while [ $i -lt 2000 ]; do echo 'a line of no use at "
                                        "all to anybody'; i=$((i + 1)); done; exit 0",
                                        20.0);
    assert_int_equal(peer.outcome, HS_PEER_FAILED);
}

void test_peers__the_case_is_handed_over(void **state)
{
    (void)state;
    /* the words of the command line as the answer's reason; the proof's first line as the device */
    struct hs_peer peer = run_one("echo \"{\\\"absent\\\": \\\"$*\\\"}\"", 20.0);
    assert_non_null(strstr(peer.why, "--points 40,30 --coefficients 0."));
    peer = run_one("c=$4; n=$(echo $c | tr -cd , | wc -c); for a; do case $a in --proof=*) "
                   "f=${a#--proof=};; esac; done; echo \"{\\\"absent\\\": \\\"$n $5 $6 $7 $8 $9 "
                   "$(head -n 1 $f) $(($(wc -c <$f)))\\\"}\"",
                   20.0);
    /* 5 coefficients; "21,17 4\n" and two fields of floats */
    assert_string_equal(peer.why, "4 --precision float --backend cpu --device=0 21,17 4 2864");
}

void test_peers__names_are_looked_up(void **state)
{
    (void)state;
    struct hs_error err;
    hs_error_init(&err);
    begin();
    write_script("second", "");
    write_script("first", "");
    write_script("common", "");
    static struct hs_peers peers, chosen;
    assert_int_equal(hs_peers_find(NULL, &peers, &err), HS_OK);
    assert_int_equal(peers.count, 2);
    assert_string_equal(peers.peer[0].name, "first");
    assert_int_equal(hs_peers_find("second", &chosen, &err), HS_OK);
    assert_int_equal(chosen.count, 1);
    assert_string_equal(chosen.peer[0].name, "second");
    assert_int_equal(hs_peers_find("second,third", &chosen, &err), HS_BAD_INPUT);
    assert_non_null(strstr(err.text, "\"third\""));
    assert_non_null(strstr(err.text, "first, second"));
    char common[128];
    snprintf(common, sizeof common, "%s/common.py", folder);
    unlink(common);
    end(&peers);
    assert_int_equal(rmdir(folder), 0);
    setenv("HEATSOLVE_PEERS", folder, 1); /* which is gone */
    assert_int_equal(hs_peers_find(NULL, &chosen, &err), HS_BAD_INPUT);
    unsetenv("HEATSOLVE_PEERS");
    hs_error_release(&err);
}
