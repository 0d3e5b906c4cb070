/* Snapshots of a stand-in device whose field changes while they are read, read late, or not at
 * all. */
#include "output/snapshots.h"
#include "test.h"

#include <hdf5.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NX = 5, NY = 4, COUNT = NX * NY };

struct hs_readback {
    double values[COUNT];
};

struct hs_backend_state {
    double field[COUNT];
    struct hs_readback readback;
    bool gives_readbacks;
    int lost; /* this many parts fail */
    int open; /* readbacks begun but not ended */
    int begun;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool shut; /* parts wait until it is false */
};

static enum hs_status download(struct hs_backend_state *s, const struct hs_box *box, void *values,
                               struct hs_error *err)
{
    double *to = values;
    for (int64_t j = box->lo[HS_Y]; j < box->hi[HS_Y]; j++)
        for (int64_t i = box->lo[HS_X]; i < box->hi[HS_X]; i++)
            *to++ = s->field[j * NX + i];
    return HS_OK;
}

static enum hs_status download_begin(struct hs_backend_state *s, struct hs_readback **out,
                                     struct hs_error *err)
{
    *out = s->gives_readbacks ? &s->readback : NULL;
    if (*out) {
        assert_int_equal(s->open, 0); /* one at a time */
        memcpy(s->readback.values, s->field, sizeof s->field);
        s->open++;
        s->begun++;
    }
    return HS_OK;
}

static struct hs_backend_state device;

static enum hs_status download_part(struct hs_readback *readback, const struct hs_box *box,
                                    const struct hs_box *next, const void **values,
                                    struct hs_error *err)
{
    pthread_mutex_lock(&device.lock);
    while (device.shut)
        pthread_cond_wait(&device.changed, &device.lock);
    pthread_mutex_unlock(&device.lock);
    *values = readback->values + box->lo[HS_Y] * NX + box->lo[HS_X];
    return device.lost-- > 0 ? hs_error_add(err, HS_DEVICE, "device lost") : HS_OK;
}

static void download_end(struct hs_readback *readback)
{
    device.open--;
}

/* One piece per row. */
static enum hs_status reduce(struct hs_backend_state *s, const struct hs_partial **out,
                             struct hs_error *err)
{
    static struct hs_partial partial[NY];
    for (int j = 0; j < NY; j++)
        partial[j] = (struct hs_partial){
            .min = s->field[0], .max = s->field[0], .sum.sum = s->field[0], .volume.sum = 1.0};
    *out = partial;
    return HS_OK;
}

static const struct hs_backend stand_in = {.name = "stand-in",
                                           .download = download,
                                           .download_begin = download_begin,
                                           .download_part = download_part,
                                           .download_end = download_end,
                                           .reduce = reduce};

extern const struct hs_method hs_method_euler;

static const struct hs_plan plan = {.method = &hs_method_euler,
                                    .backend = &stand_in,
                                    .sweeps = 40,
                                    .tail_step = 0.5,
                                    .end = 20.0,
                                    .output_every = 10};

struct scene {
    struct hs_problem problem;
    struct hs_step_state_cache cache;
    struct hs_snapshots *snapshots;
    struct hs_observer *observer;
    struct hs_error err;
    char directory[32], file[64];
};

static void shut(bool closed)
{
    pthread_mutex_lock(&device.lock);
    device.shut = closed;
    pthread_cond_broadcast(&device.changed);
    pthread_mutex_unlock(&device.lock);
}

static void begin(struct scene *s, bool readbacks)
{
    memset(&device, 0, sizeof device);
    pthread_mutex_init(&device.lock, NULL);
    pthread_cond_init(&device.changed, NULL);
    device.gives_readbacks = readbacks;
    *s = (struct scene){.directory = "/tmp/snapshots-XXXXXX"};
    assert_non_null(mkdtemp(s->directory));
    snprintf(s->file, sizeof s->file, "%s/o.h5", s->directory);
    s->err = (struct hs_error){0};
    hs_problem_init(&s->problem);
    s->problem.grid = (struct hs_grid){.dims = 2, .points = {NX, NY, 1}, .spacing = {1, 1, 1}};
    s->problem.raw = true;
    s->problem.radius = 1;
    s->problem.precision = HS_DOUBLE;
    s->problem.schedule.history_every = -1;
    s->problem.output.file = strdup(s->file);
    s->cache = (struct hs_step_state_cache){.backend = &stand_in, .state = &device};
    assert_int_equal(hs_snapshots_create(&s->problem, &plan, NULL, &s->snapshots, &s->err), HS_OK);
    s->observer = hs_snapshots_observer(s->snapshots);
}

/* Sets all nodes to 100*sweep plus their number. */
static void set_field(int64_t sweep)
{
    for (int n = 0; n < COUNT; n++)
        device.field[n] = 100.0 * (double)sweep + n;
}

static enum hs_status tell(struct scene *s, enum hs_phase phase, int64_t sweep)
{
    set_field(sweep);
    s->cache.reduction_valid = false;
    const struct hs_step_state step_state = {.problem = &s->problem,
                                             .plan = &plan,
                                             .phase = phase,
                                             .sweep = sweep,
                                             .time = 0.5 * (double)sweep,
                                             .device = "a stand-in",
                                             .cache = &s->cache};
    const enum hs_status st = s->observer->notify(s->observer->self, &step_state, &s->err);
    set_field(-1); /* the sweeps go on */
    return st;
}

static void drain(struct scene *s)
{
    s->observer->drain(s->observer->self);
}

static void end(struct scene *s)
{
    drain(s);
    assert_int_equal(device.open, 0);
    hs_snapshots_destroy(s->snapshots);
    char xdmf[64];
    snprintf(xdmf, sizeof xdmf, "%s/o.xdmf", s->directory);
    unlink(s->file);
    unlink(xdmf);
    assert_int_equal(rmdir(s->directory), 0); /* nothing else was left */
    hs_problem_release(&s->problem);
    hs_error_release(&s->err);
}

/* The file has `count` snapshots, of sweeps 0, 10, 20, ... */
static void assert_snapshots(const struct scene *s, int count)
{
    const hid_t file = H5Fopen(s->file, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t set = H5Dopen2(file, "temperature", H5P_DEFAULT), space = H5Dget_space(set);
    assert_int_equal(H5Sget_simple_extent_npoints(space), count * COUNT);
    double *values = malloc((size_t)(count * COUNT) * sizeof *values);
    assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    for (int n = 0; n < count * COUNT; n++)
        assert_true(values[n] == 1000.0 * (n / COUNT) + n % COUNT);
    free(values);
    H5Sclose(space);
    H5Dclose(set);
    H5Fclose(file);
}

/* The first snapshot is written when this returns. */
static void start(struct scene *s)
{
    assert_int_equal(tell(s, HS_PHASE_START, 0), HS_OK);
    drain(s);
    assert_snapshots(s, 1);
}

static void run_whole(struct scene *s)
{
    assert_int_equal(tell(s, HS_PHASE_START, 0), HS_OK);
    for (int sweep = 10; sweep < 40; sweep += 10)
        assert_int_equal(tell(s, HS_PHASE_RUNNING, sweep), HS_OK);
    assert_int_equal(tell(s, HS_PHASE_END, 40), HS_OK);
    assert_snapshots(s, 5);
    assert_int_equal(hs_snapshots_resume(s->snapshots, 40).snapshots, 5);
}

void test_snapshots__are_of_their_moment(void **state)
{
    struct scene s;
    begin(&s, true);
    run_whole(&s);
    assert_int_equal(device.begun, 5);
    end(&s);
}

void test_snapshots__without_tickets_are_read_before_the_run_goes_on(void **state)
{
    struct scene s;
    begin(&s, false);
    run_whole(&s);
    end(&s);
}

void test_snapshots__the_run_goes_on_while_one_is_written(void **state)
{
    struct scene s;
    begin(&s, true);
    start(&s);
    shut(true);
    assert_int_equal(tell(&s, HS_PHASE_RUNNING, 10), HS_OK); /* hangs here if it waits */
    assert_int_equal(tell(&s, HS_PHASE_RUNNING, 13), HS_OK); /* nothing is due */
    assert_int_equal(device.open, 1);
    assert_snapshots(&s, 1);
    shut(false);
    assert_int_equal(hs_snapshots_flush(s.snapshots, &s.err), HS_OK); /* waits for it */
    assert_snapshots(&s, 2);
    assert_int_equal(tell(&s, HS_PHASE_STOPPED, 10), HS_OK);
    assert_snapshots(&s, 2);
    end(&s);
}

static int named;

static enum hs_status note_name(void *self, struct hs_error *err)
{
    named += access(((struct scene *)self)->file, F_OK) == 0 ? 1 : 100;
    return HS_OK;
}

/* What waits for the file's name is done once, when it has the name. */
void test_snapshots__the_run_goes_on_while_the_first_is_written(void **state)
{
    struct scene s;
    begin(&s, true);
    named = 0;
    hs_snapshots_when_named(s.snapshots, note_name, &s);
    shut(true);
    assert_int_equal(tell(&s, HS_PHASE_START, 0), HS_OK); /* hangs here if it waits */
    assert_int_equal(tell(&s, HS_PHASE_RUNNING, 3), HS_OK);
    assert_int_equal(device.open, 1);
    assert_int_not_equal(access(s.file, F_OK), 0);
    assert_int_equal(named, 0);
    shut(false);
    drain(&s);
    assert_snapshots(&s, 1);
    assert_int_equal(named, 1);
    for (int sweep = 10; sweep < 40; sweep += 10)
        assert_int_equal(tell(&s, HS_PHASE_RUNNING, sweep), HS_OK);
    assert_int_equal(tell(&s, HS_PHASE_END, 40), HS_OK);
    assert_snapshots(&s, 5);
    assert_int_equal(named, 1);
    end(&s);
}

/* Although it is not due. */
void test_snapshots__a_failure_of_the_first_is_told_when_asked(void **state)
{
    struct scene s;
    begin(&s, true);
    device.lost = 1;
    assert_int_equal(tell(&s, HS_PHASE_START, 0), HS_OK); /* not known yet */
    drain(&s);
    assert_int_equal(s.observer->ask(s.observer->self, &s.err), HS_DEVICE);
    assert_string_equal(s.err.text, "device lost\n");
    assert_int_equal(s.observer->ask(s.observer->self, &s.err), HS_DEVICE);
    assert_int_equal(s.err.count, 1); /* reported once */
    assert_int_not_equal(access(s.file, F_OK), 0);
    end(&s);
}

void test_snapshots__a_failure_of_the_writer_reaches_the_loop(void **state)
{
    struct scene s;
    begin(&s, true);
    start(&s);
    device.lost = 1;
    assert_int_equal(tell(&s, HS_PHASE_RUNNING, 10), HS_OK); /* not known yet */
    drain(&s);
    assert_int_equal(tell(&s, HS_PHASE_RUNNING, 20), HS_DEVICE);
    assert_string_equal(s.err.text, "device lost\n");
    assert_int_equal(hs_snapshots_flush(s.snapshots, &s.err), HS_DEVICE);
    assert_snapshots(&s, 1);
    end(&s);
}

static void *open_soon(void *unused)
{
    usleep(50000);
    shut(false);
    return unused;
}

/* The next one is in transit when it fails. A file without one in the middle would be wrong. */
void test_snapshots__none_is_written_after_one_that_failed(void **state)
{
    struct scene s;
    pthread_t thread;
    begin(&s, true);
    start(&s);
    shut(true);
    device.lost = 1;
    assert_int_equal(tell(&s, HS_PHASE_RUNNING, 10), HS_OK);
    assert_int_equal(pthread_create(&thread, NULL, open_soon, NULL), 0);
    tell(&s, HS_PHASE_RUNNING, 20); /* waits for the first */
    pthread_join(thread, NULL);
    assert_int_equal(tell(&s, HS_PHASE_END, 40), HS_DEVICE);
    assert_int_equal(hs_snapshots_resume(s.snapshots, 40).snapshots, 1);
    assert_snapshots(&s, 1);
    end(&s);
}

void test_snapshots__a_failure_at_the_end_is_told_there(void **state)
{
    struct scene s;
    begin(&s, true);
    start(&s);
    device.lost = 1;
    assert_int_equal(tell(&s, HS_PHASE_END, 40), HS_DEVICE);
    assert_snapshots(&s, 1);
    end(&s);
}
