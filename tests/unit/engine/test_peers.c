/* Runs /bin/sh instead of Python, so that run.py is a line of shell. tests/cases/test_peers.py
 * tests the real one. */
#include "engine/measure/peers.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern const struct hs_backend hs_backend_cpu;

static const struct hs_bench_request request = {.dims = 2,
                                                .points = {40, 30, 1},
                                                .radius = 1,
                                                .precision = HS_FLOAT,
                                                .repeats = 7,
                                                .threads = 2};

static char folder[64], script[80];
static struct hs_peers peers;
static struct hs_error err;

static void begin(const char *text)
{
    err = (struct hs_error){0};
    snprintf(folder, sizeof folder, "/tmp/heatsolve-peers-test-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(script, sizeof script, "%s/run.py", folder);
    FILE *file = fopen(script, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    setenv("HEATSOLVE_PEERS", folder, 1);
    setenv("PYTHON", "/bin/sh", 1);
}

static void end(void)
{
    unlink(script);
    assert_int_equal(rmdir(folder), 0);
    unsetenv("HEATSOLVE_PEERS");
    unsetenv("PYTHON");
    hs_error_release(&err);
}

static enum hs_status run(const char *only)
{
    return hs_peers_run(only, &request, &hs_backend_cpu, 0.5, &peers, &err);
}

/* The only row. */
static struct hs_peer run_one(const char *text)
{
    begin(text);
    assert_int_equal(run(NULL), HS_OK);
    assert_int_equal(err.count, 0);
    assert_int_equal(peers.count, 1);
    end();
    return peers.peer[0];
}

void test_peers__a_timed_row_is_read(void **state)
{
    const struct hs_peer peer =
        run_one("printf 'one\\ttimed\\t15\\t1e-3\\t2e-3\\t4e-3\\t2.5e-07\\tsoft \"1.2\"\\ta d "
                "vice, 4 parts\\n'");
    assert_int_equal(peer.outcome, HS_PEER_TIMED);
    assert_string_equal(peer.name, "one");
    assert_string_equal(peer.version, "soft \"1.2\"");
    assert_string_equal(peer.device, "a d vice, 4 parts");
    assert_int_equal(peer.seconds.count, 15);
    assert_true(peer.seconds.min == 1e-3 && peer.seconds.median == 2e-3 &&
                peer.seconds.max == 4e-3 && peer.apart == 2.5e-07);
}

void test_peers__a_number_that_is_not_known_is_none(void **state)
{
    const struct hs_peer peer = run_one("printf 'one\\ttimed\\t3\\t1\\t1\\t1\\tnan\\t\\t\\n'");
    assert_int_equal(peer.outcome, HS_PEER_TIMED);
    assert_true(isnan(peer.apart));
    assert_string_equal(peer.version, "");
    assert_string_equal(peer.device, "");
}

void test_peers__rows_without_times_have_their_reason(void **state)
{
    begin("printf 'first\\tabsent\\tno GPU\\nsecond\\tfailed\\tdiffers from numpy\\n'; "
          "printf 'third\\tabsent\\tnot installed'"); /* no line end */
    assert_int_equal(run(NULL), HS_OK);
    assert_int_equal(peers.count, 3);
    static const char *const names[] = {"first", "second", "third"};
    for (int n = 0; n < 3; n++) {
        assert_string_equal(peers.peer[n].name, names[n]);
        assert_int_equal(peers.peer[n].outcome, n == 1 ? HS_PEER_FAILED : HS_PEER_ABSENT);
    }
    assert_string_equal(peers.peer[0].why, "no GPU");
    assert_string_equal(peers.peer[1].why, "differs from numpy");
    assert_string_equal(peers.peer[2].why, "not installed");
    end();
}

void test_peers__more_than_fits_is_dropped(void **state)
{
    begin("n=0; while [ $n -lt 40 ]; do n=$((n + 1)); printf \"p$n\\tabsent\\t%0999d\\n\"; done");
    assert_int_equal(run(NULL), HS_OK);
    assert_int_equal(peers.count, HS_PEERS_MOST);
    assert_string_equal(peers.peer[HS_PEERS_MOST - 1].name, "p32");
    assert_int_equal(strlen(peers.peer[0].why), sizeof peers.peer[0].why - 1);
    end();
}

void test_peers__a_refusal_is_an_error(void **state)
{
    begin("printf -- '-\\trefused\\tno peer \"third\"\\n'");
    assert_int_equal(hs_peers_check(HS_PEERS_SWEEPS, "third", &err), HS_BAD_INPUT);
    assert_string_equal(err.text, "no peer \"third\"\n");
    assert_int_equal(run("third"), HS_BAD_INPUT);
    assert_int_equal(peers.count, 0);
    end();
}

/* Answers from before the failure are kept. */
static void assert_script_fails(const char *text)
{
    begin(text);
    assert_int_equal(run(NULL), HS_IO);
    assert_int_equal(peers.count, 1);
    assert_int_equal(hs_peers_check(HS_PEERS_SWEEPS, NULL, &err), HS_IO);
    assert_non_null(strstr(err.text, "--peers"));
    end();
}

void test_peers__a_script_that_fails_is_an_error(void **state)
{
    assert_script_fails("printf 'one\\tabsent\\tx\\n'; exit 3");
    assert_script_fails("printf 'one\\tabsent\\tx\\n'; kill -KILL $$");
}

void test_peers__what_is_no_row_is_an_error(void **state)
{
    assert_script_fails("printf 'one\\tabsent\\tx\\nnoise\\n'");
    assert_script_fails("printf 'one\\tabsent\\tx\\n\\n'");
    assert_script_fails("printf 'one\\tabsent\\tx\\ntwo\\ttime\\t3\\n'");
}

void test_peers__no_python_is_an_error_that_names_it(void **state)
{
    begin("");
    setenv("PYTHON", "/nowhere/python", 1);
    assert_int_equal(hs_peers_check(HS_PEERS_SWEEPS, NULL, &err), HS_BAD_INPUT);
    assert_non_null(strstr(err.text, "/nowhere/python: No such file or directory"));
    assert_non_null(strstr(err.text, "PYTHON"));
    end();
}

void test_peers__no_script_is_an_error_that_says_where_it_may_be(void **state)
{
    char before[4096];
    assert_non_null(getcwd(before, sizeof before));
    begin("");
    unlink(script);
    assert_int_equal(chdir(folder), 0); /* a folder without tests/peers */
    assert_int_equal(hs_peers_check(HS_PEERS_SWEEPS, NULL, &err), HS_BAD_INPUT);
    assert_non_null(strstr(err.text, "run.py"));
    assert_non_null(strstr(err.text, "HEATSOLVE_PEERS"));
    assert_int_equal(chdir(before), 0);
    end();
}

void test_peers__names_alone_are_asked_with_no_case(void **state)
{
    begin("[ \"$*\" = '. 0 one,two' ] && [ $(wc -c) = 0 ]");
    assert_int_equal(hs_peers_check(HS_PEERS_SWEEPS, "one,two", &err), HS_OK);
    end();
    begin("[ \"$*\" = '. 0' ] && [ $(wc -c) = 0 ]");
    assert_int_equal(hs_peers_check(HS_PEERS_SWEEPS, NULL, &err), HS_OK);
    end();
}

void test_peers__the_case_is_handed_over(void **state)
{
    begin("printf 'x\\tabsent\\t%s\\n' \"$*\"");
    assert_int_equal(run("one"), HS_OK);
    assert_string_equal(peers.peer[0].why, ". 0.5 one"); /* the seconds, the names */
    end();
    struct hs_peer peer = run_one("read -r p; read -r c; printf 'x\\tabsent\\t%s\\n' \"$p $c\"");
    assert_non_null(strstr(peer.why, "--points=40,30 --coefficients=0."));
    /* 5 coefficients */
    peer = run_one("read -r p; read -r c; printf 'x\\tabsent\\t%d\\n' $(echo $c | tr -cd , | "
                   "wc -c)");
    assert_string_equal(peer.why, "4");
    /* the other options, up to the empty line; "21,17 4\n" and two fields of floats */
    peer = run_one("read -r p; read -r c; t=; while read -r o && [ \"$o\" ]; do t=\"$t $o\"; done; "
                   "read -r s; printf 'x\\tabsent\\t%s\\n' \"$t $s $(($(wc -c)))\"");
    assert_string_equal(peer.why,
                        " --precision=float --backend=cpu --device=0 --threads=2 --repeats=7 "
                        "--sample=0.02 --all=5 21,17 4 2856");
}
