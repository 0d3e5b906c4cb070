/* Rounds of work on another thread: their order, what may overlap, and their failures. */
#include "output/writer.h"
#include "test.h"

#include <pthread.h>
#include <string.h>

/* A round takes its input, then waits until it is let through. */
static struct {
    struct hs_writer *writer;
    int input, taken[8], rounds;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int let_through, entered;
    bool silent;   /* rounds do not report that they took their input */
    int fail_from; /* rounds from this one on fail; 0: none */
} scene;

static enum hs_status round_of_work(void *self, struct hs_error *err)
{
    assert_ptr_equal(self, &scene);
    const int number = ++scene.rounds;
    scene.taken[number - 1] = scene.input;
    if (!scene.silent)
        hs_writer_took(scene.writer);
    pthread_mutex_lock(&scene.lock);
    scene.entered = number;
    pthread_cond_broadcast(&scene.changed);
    while (scene.let_through < number)
        pthread_cond_wait(&scene.changed, &scene.lock);
    pthread_mutex_unlock(&scene.lock);
    return scene.fail_from && number >= scene.fail_from
               ? hs_error_add(err, HS_IO, "round %d failed", number)
               : HS_OK;
}

static void let_through(int rounds)
{
    pthread_mutex_lock(&scene.lock);
    scene.let_through = rounds;
    pthread_cond_broadcast(&scene.changed);
    pthread_mutex_unlock(&scene.lock);
}

static void begin(int fail_from)
{
    memset(&scene, 0, sizeof scene);
    scene.fail_from = fail_from;
    pthread_mutex_init(&scene.lock, NULL);
    pthread_cond_init(&scene.changed, NULL);
    assert_ok(hs_writer_create(round_of_work, &scene, &scene.writer, &err));
}

static void hand_over(int input)
{
    hs_writer_await_taken(scene.writer);
    scene.input = input;
    hs_writer_hand_over(scene.writer);
}

void test_writer__the_owner_goes_on_once_the_input_is_taken(void **state)
{
    begin(0);
    assert_true(hs_writer_idle(scene.writer));
    hand_over(7);
    hs_writer_await_taken(scene.writer); /* the round has not ended, nor may it */
    assert_false(hs_writer_idle(scene.writer));
    assert_int_equal(scene.taken[0], 7);
    scene.input = 8;
    hs_writer_hand_over(scene.writer); /* waits its turn */
    assert_int_equal(scene.rounds, 1);
    let_through(2);
    hs_writer_await_idle(scene.writer);
    assert_true(hs_writer_idle(scene.writer));
    assert_int_equal(scene.rounds, 2);
    assert_int_equal(scene.taken[1], 8);
    hs_writer_destroy(scene.writer);
}

void test_writer__what_was_handed_over_is_done_before_the_end(void **state)
{
    begin(0);
    let_through(5);
    for (int n = 1; n <= 5; n++)
        hand_over(n);
    hs_writer_destroy(scene.writer);
    assert_int_equal(scene.rounds, 5);
    for (int n = 1; n <= 5; n++)
        assert_int_equal(scene.taken[n - 1], n);
}

void test_writer__the_first_failure_is_told_once(void **state)
{
    struct hs_error err = {0};
    begin(2);
    let_through(3);
    hand_over(1);
    hs_writer_await_idle(scene.writer);
    assert_int_equal(hs_writer_failed(scene.writer, &err), HS_OK);
    hand_over(2);
    hand_over(3);
    hs_writer_await_idle(scene.writer);
    assert_int_equal(hs_writer_failed(scene.writer, &err), HS_IO);
    assert_string_equal(err.text, "round 2 failed\n");
    assert_int_equal(hs_writer_failed(scene.writer, &err), HS_IO);
    assert_int_equal(err.count, 1);
    hs_writer_destroy(scene.writer);
    hs_error_release(&err);
}

void test_writer__a_round_that_ended_has_taken_its_input(void **state)
{
    begin(0);
    scene.silent = true;
    let_through(2);
    hand_over(1);
    hand_over(2);
    hs_writer_await_taken(scene.writer); /* hangs here if not */
    assert_int_equal(scene.rounds, 2);
    hs_writer_destroy(scene.writer);
}

void test_writer__none_at_all_is_destroyed_too(void **state)
{
    hs_writer_destroy(NULL);
}
