/*
 * The order of the ranks' requests to their GPUs leaves no choice: whichever of several ready
 * streams goes first, the bits are those of the whole.
 *
 * All ranks are in this process, with a backend and an NCCL that only record requests, as GPUs do.
 * At the end of a request the streams are drained, one operation at a time, from random streams
 * that can go on. Sweeps use a few numbers per layer, chosen such that any layer that is late or
 * early shows.
 */
#include "core/library.h"

#include <dlfcn.h>

#define dlopen(name, mode) ((void *)(uintptr_t)(mode)) /* below is what it finds */
#define hs_library_find fake_library_find
static const char *fake_library_find(void *library, const struct hs_symbol *symbols, size_t count);

/* NOLINTBEGIN: no program that is not for several ranks has them */
#include "engine/ranks/mpi/device_wire.c"
#include "engine/ranks/mpi/part.c"
/* NOLINTEND */

#include "core/memory.h"
#include "random.h"
#include "test.h"

#include <stdarg.h>
#include <stdio.h>

static int any(int count)
{
    return (int)below((uint32_t)count);
}

/* ---- streams --------------------------------------------------------------------------------- */

enum { RANKS = 5, OPERATIONS = 2048, EVENTS = 1 << 16, LAYER = 4, MOST_LAYERS = 400 };

enum operation_kind { CALL, RECORD, WAIT, EXCHANGE, WRITE, AWAIT };

/* A send, a receive, or a write, to or from a rank. */
struct move {
    int rank;
    const void *out;
    void *in;
    size_t bytes;
    bool done;
};

struct operation {
    enum operation_kind kind;
    struct hs_backend_state *state; /* call: `sweeps` of its field `begins` to the other */
    int begins, sweeps;
    enum hs_sweep_part part;
    int64_t ends;
    int event; /* record, wait */
    int rank;  /* exchange, write, await: whose */
    struct move send[2], receive[2];
    int sends, receives;
    int window; /* write: of the target; its bytes begin at `offset`. Then, a signal. */
    size_t offset;
    int from, signals; /* await: so many in all */
};

struct stream {
    struct operation operation[OPERATIONS];
    int first, end;
};

static struct stream *streams[3 * RANKS];
static int stream_count, event_count;
static bool happened[EVENTS];

static struct stream *new_stream(void)
{
    return streams[stream_count++] = hs_new(sizeof(struct stream));
}

static void note(void *stream, const struct operation *operation)
{
    struct stream *on = stream;
    assert_true(on->end < OPERATIONS);
    on->operation[on->end++] = *operation;
}

static struct operation *head_of(struct stream *stream)
{
    return stream->first < stream->end ? &stream->operation[stream->first] : NULL;
}

/* ---- the backend ----------------------------------------------------------------------------- */

struct hs_backend_state {
    const struct hs_problem *problem;
    double *field[2]; /* [layers][LAYER] */
    int now;
    struct stream *stream, *ahead, *last; /* `ahead` NULL: calls are made in one */
    int64_t splits;                       /* calls of so many sweeps are in two parts; 0: none */
    int64_t ends;                         /* layers, if the next call may be; else 0 */
};

static int64_t layers_of_state(const struct hs_backend_state *state)
{
    return state->problem->grid.points[HS_Z];
}

static enum hs_status fake_create(const struct hs_problem *problem, const struct hs_kernel *kernel,
                                  struct hs_backend_state **out, struct hs_error *err)
{
    struct hs_backend_state *state = *out = hs_new(sizeof *state);
    state->problem = problem;
    const struct hs_slab_memory *memory = problem->slab->memory;
    const size_t layers = (size_t)(memory ? memory->layers : layers_of_state(state));
    for (int f = 0; f < 2; f++)
        state->field[f] = (memory ? memory->take : hs_new)(layers * LAYER * sizeof(double));
    state->stream = new_stream();
    return HS_OK;
}

static void fake_destroy(struct hs_backend_state *state)
{
    const struct hs_slab_memory *memory = state->problem->slab->memory;
    for (int f = 0; f < 2; f++)
        (memory ? memory->give : free)(state->field[f]);
    free(state);
}

static struct hs_layers fake_layers(struct hs_backend_state *state, int field, int64_t from,
                                    int64_t to)
{
    return (struct hs_layers){state->field[state->now ^ field] + from * LAYER,
                              (size_t)(to - from) * LAYER * sizeof(double), state->stream};
}

static void order(struct stream *first, struct stream *then)
{
    assert_true(event_count < EVENTS);
    note(first, &(struct operation){.kind = RECORD, .event = event_count});
    note(then, &(struct operation){.kind = WAIT, .event = event_count++});
}

/* The layers of the ends: the halo, and what a call reads beyond the inside. */
static int64_t ends_of(const struct hs_backend_state *state, int64_t sweeps)
{
    const struct hs_slab *slab = state->problem->slab;
    const int64_t above = layers_of_state(state) - slab->hi;
    return (slab->lo > above ? slab->lo : above) + sweeps * state->problem->radius;
}

/* Some ranks may split calls that others do not. */
static enum hs_status fake_part(struct hs_backend_state *state, int64_t sweeps, bool *splits,
                                struct hs_error *err)
{
    state->ahead = new_stream();
    state->last = new_stream();
    if (2 * (ends_of(state, sweeps) + 2) < layers_of_state(state) && any(8))
        state->splits = sweeps;
    *splits = state->splits > 0;
    return HS_OK;
}

static enum hs_status fake_ahead(struct hs_backend_state *state, int64_t sweeps, void **stream,
                                 struct hs_error *err)
{
    state->ends = sweeps == state->splits ? ends_of(state, sweeps) + any(3) : 0;
    *stream = state->ends > 0 ? state->ahead : NULL;
    if (state->ends > 0)
        order(state->stream, state->ahead);
    return HS_OK;
}

static void ask_parts(struct hs_backend_state *state, struct operation call)
{
    order(state->stream, state->last);
    call.ends = state->ends;
    call.part = HS_SWEEP_INSIDE;
    note(state->stream, &call);
    order(state->ahead, state->last);
    call.part = HS_SWEEP_ENDS;
    note(state->last, &call);
    order(state->last, state->stream);
}

/* One kernel call or several, as backends split spans: all ranks alike. */
static enum hs_status fake_ask(struct hs_backend_state *state, const struct hs_span *span,
                               struct hs_error *err)
{
    for (int64_t left = span->count; left > 0;) {
        const int64_t random = (span->first + left) * 7919 % 101;
        const int sweeps = (int)(random % 3 ? left : 1 + random % left);
        const struct operation call = {
            .kind = CALL, .state = state, .begins = state->now, .sweeps = sweeps};
        if (state->ends > 0 && sweeps == span->count) {
            ask_parts(state, call);
        } else {
            if (state->ends > 0)
                order(state->ahead, state->stream);
            state->ends = 0;
            note(state->stream, &call);
        }
        state->now ^= 1;
        left -= sweeps;
    }
    return HS_OK;
}

/* The test drains the streams when all ranks have asked. */
static enum hs_status fake_wait(struct hs_backend_state *state, struct hs_error *err)
{
    return HS_OK;
}

static enum hs_status fake_space(struct hs_backend_state *state, size_t bytes, void **out,
                                 struct hs_error *err)
{
    return hs_error_add(err, HS_DEVICE, "nothing goes by way of host memory here");
}

enum { DEVICE = 7 };

static enum hs_status fake_download(struct hs_backend_state *state, const struct hs_box *box,
                                    void *values, struct hs_error *err)
{
    return hs_error_add(err, HS_DEVICE, "the device is gone");
}

static enum hs_status fake_available(int device, struct hs_error *err)
{
    return HS_OK;
}

static enum hs_status fake_limits(int device, struct hs_device_limits *out, struct hs_error *err)
{
    *out = (struct hs_device_limits){.id = {DEVICE}};
    return HS_OK;
}

static int fake_recursion(const struct hs_backend_state *state)
{
    return 0;
}

static const struct hs_halo fake_halo = {.layers = fake_layers,
                                         .part = fake_part,
                                         .ahead = fake_ahead,
                                         .ask = fake_ask,
                                         .wait = fake_wait,
                                         .space = fake_space};
static const struct hs_vectors fake_vectors = {.recursion = fake_recursion};
static const struct hs_backend fake = {.name = "fake",
                                       .device = HS_CPU,
                                       .available = fake_available,
                                       .limits = fake_limits,
                                       .create = fake_create,
                                       .destroy = fake_destroy,
                                       .download = fake_download,
                                       .halo = &fake_halo,
                                       .vectors = &fake_vectors};

/* ---- between ranks --------------------------------------------------------------------------- */

struct hs_wire hs_wire;

bool hs_wire_apart(const void *what, size_t bytes)
{
    return bytes > 0 && *(const unsigned char *)what == DEVICE;
}

int hs_wire_least(int here)
{
    return here;
}

void hs_wire_send(int to, const void *data, size_t bytes)
{
    fail_msg("%zu bytes to rank %d", bytes, to);
}

static bool others_send;
static size_t heard[RANKS];

void hs_wire_receive(int from, void *data, size_t bytes)
{
    if (!others_send)
        fail_msg("%zu bytes from rank %d", bytes, from);
    heard[from] += bytes;
}

void hs_wire_tell(void *data, size_t bytes)
{
    assert_int_equal(bytes, sizeof(struct unique)); /* of NCCL's communicator */
}

void hs_network_send(int to, const struct hs_network *network, const struct hs_problem *whole)
{
    fail_msg("a network to rank %d", to);
}

struct hs_network *hs_network_receive(int from, const struct hs_grid *grid,
                                      const struct hs_problem *whole)
{
    fail_msg("a network from rank %d", from);
    return NULL;
}

static struct hs_part parts[RANKS];

/* Bytes to the begin of a rank's own layers, where the halo below ends; and to their end. */
static size_t begin_of(int rank)
{
    return (size_t)parts[rank].slab.shape.slab.lo * LAYER * sizeof(double);
}
static size_t end_of(int rank)
{
    return (size_t)parts[rank].slab.shape.slab.hi * LAYER * sizeof(double);
}

/* Neighbours tell each other where they write to. */
void hs_wire_exchange(const struct hs_wire_side *below, const struct hs_wire_side *above)
{
    if (below->rank >= 0) {
        assert_int_equal(*(const size_t *)below->out, begin_of(hs_wire.rank));
        *(size_t *)below->in = end_of(below->rank);
    }
    if (above->rank >= 0) {
        assert_int_equal(*(const size_t *)above->out, end_of(hs_wire.rank));
        *(size_t *)above->in = begin_of(above->rank);
    }
}

void hs_wire_abort(enum hs_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf(" (status %d)\n", (int)status);
    exit(1);
}

/* ---- NCCL ------------------------------------------------------------------------------------ */

/* Windows of a rank have the numbers in which it opens them. */
enum { WINDOWS = 4 };
struct fake_window {
    char *at;
    size_t bytes;
};
static struct fake_window windows[RANKS][WINDOWS];
static int window_count[RANKS];
static int signals_sent[RANKS][RANKS], signals_due[RANKS][RANKS]; /* from, to */
static struct operation group;                                    /* of sends and receives */
static struct stream *group_stream;

static int fake_id(struct unique *id)
{
    return 0;
}

static int fake_communicator(communicator *out, int ranks, struct unique id, int rank)
{
    *out = windows;
    return 0;
}

static int fake_begin(void)
{
    group = (struct operation){.kind = EXCHANGE, .rank = hs_wire.rank};
    return 0;
}

static int fake_end(void)
{
    if (group.sends + group.receives > 0)
        note(group_stream, &group);
    return 0;
}

static int fake_send(const void *out, size_t bytes, int type, int to, communicator of, void *stream)
{
    group_stream = stream;
    group.send[group.sends++] = (struct move){.rank = to, .out = out, .bytes = bytes};
    return 0;
}

static int fake_receive(void *in, size_t bytes, int type, int from, communicator of, void *stream)
{
    group_stream = stream;
    group.receive[group.receives++] = (struct move){.rank = from, .in = in, .bytes = bytes};
    return 0;
}

static int fake_memory(void **out, size_t bytes)
{
    *out = hs_new(bytes);
    return 0;
}

static int fake_free(void *at)
{
    free(at);
    return 0;
}

static int fake_register(communicator of, void *at, size_t bytes, window *out, int flags)
{
    const int rank = hs_wire.rank, number = window_count[rank]++;
    assert_true(number < WINDOWS);
    for (int r = 0; r < RANKS; r++)
        if (number < window_count[r] && r != rank)
            assert_int_equal(windows[r][number].bytes, bytes);
    windows[rank][number] = (struct fake_window){at, bytes};
    *out = &windows[rank][number];
    return 0;
}

static int fake_deregister(communicator of, window gone)
{
    return 0;
}

static int fake_put(const void *out, size_t bytes, int type, int to, window into, size_t offset,
                    int index, int context, unsigned flags, communicator of, void *stream)
{
    const struct fake_window *mine = into;
    note(stream, &(struct operation){.kind = WRITE,
                                     .rank = hs_wire.rank,
                                     .send = {{.rank = to, .out = out, .bytes = bytes}},
                                     .window = mine ? (int)(mine - windows[hs_wire.rank]) : 0,
                                     .offset = offset});
    return 0;
}

static int fake_signal(int to, int index, int context, unsigned flags, communicator of,
                       void *stream)
{
    return fake_put(NULL, 0, 0, to, NULL, 0, index, context, flags, of, stream);
}

static int fake_await(int count, struct signals *from, communicator of, void *stream)
{
    for (int n = 0; n < count; n++) {
        int *due = &signals_due[from[n].rank][hs_wire.rank];
        *due += from[n].count;
        note(stream,
             &(struct operation){
                 .kind = AWAIT, .rank = hs_wire.rank, .from = from[n].rank, .signals = *due});
    }
    return 0;
}

static const char *fake_error(int status)
{
    return "an error";
}

static const char *fake_library_find(void *library, const struct hs_symbol *symbols, size_t count)
{
    static const struct {
        const char *name;
        void (*function)(void);
    } has[] = {
        {"ncclGetUniqueId", (void (*)(void))fake_id},
        {"ncclCommInitRank", (void (*)(void))fake_communicator},
        {"ncclSend", (void (*)(void))fake_send},
        {"ncclRecv", (void (*)(void))fake_receive},
        {"ncclGroupStart", (void (*)(void))fake_begin},
        {"ncclGroupEnd", (void (*)(void))fake_end},
        {"ncclGetErrorString", (void (*)(void))fake_error},
        {"ncclMemAlloc", (void (*)(void))fake_memory},
        {"ncclMemFree", (void (*)(void))fake_free},
        {"ncclCommWindowRegister", (void (*)(void))fake_register},
        {"ncclCommWindowDeregister", (void (*)(void))fake_deregister},
        {"ncclSignal", (void (*)(void))fake_signal},
        {"ncclPutSignal", (void (*)(void))fake_put},
        {"ncclWaitSignal", (void (*)(void))fake_await},
    };
    for (size_t s = 0; s < count; s++)
        for (size_t n = 0; n < sizeof has / sizeof *has; n++)
            if (strcmp(symbols[s].name, has[n].name) == 0)
                memcpy(symbols[s].place, &has[n].function, sizeof has[n].function);
    return NULL;
}

/* ---- what a device does ---------------------------------------------------------------------- */

/* A layer after a sweep, from the layers up to `radius` below and above. */
static void sweep_layer(const double *in, int64_t radius, double *out)
{
    for (int n = 0; n < LAYER; n++) {
        double sum = 0.0;
        for (int64_t k = -radius; k <= radius; k++)
            sum += (0.3 - 0.01 * (double)(k + k * k)) * in[k * LAYER + (n + (k != 0)) % LAYER];
        out[n] = 0.4 * sum + 0.1;
    }
}

/* Sweeps from a field to another, but not held layers, which are never written; or only a part. */
static void call_kernel(const double *in, double *out, int64_t layers, int64_t radius, int sweeps,
                        enum hs_sweep_part part, int64_t ends)
{
    static double level[2][MOST_LAYERS * LAYER];
    memcpy(level[0], in, (size_t)layers * LAYER * sizeof *in);
    memcpy(level[1], in, (size_t)layers * LAYER * sizeof *in);
    for (int s = 0; s < sweeps; s++)
        for (int64_t k = radius; k < layers - radius; k++)
            sweep_layer(&level[s % 2][k * LAYER], radius, &level[(s + 1) % 2][k * LAYER]);
    for (int64_t k = radius; k < layers - radius; k++) {
        const bool end = k < ends || k >= layers - ends;
        if (part == HS_SWEEP_ALL || end == (part == HS_SWEEP_ENDS))
            memcpy(out + k * LAYER, &level[sweeps % 2][k * LAYER], LAYER * sizeof *in);
    }
}

/* The exchange at the head of a rank's streams, or NULL. */
static struct operation *exchange_of(int rank)
{
    for (int n = 0; n < stream_count; n++) {
        struct operation *head = head_of(streams[n]);
        if (head && head->kind == EXCHANGE && head->rank == rank)
            return head;
    }
    return NULL;
}

/* A rank's sends to another, and the receives there from it, match in order. */
static void deliver(const struct operation *from, struct move *send)
{
    struct operation *to = exchange_of(send->rank);
    for (int r = 0; to && r < to->receives && !send->done; r++) {
        struct move *receive = &to->receive[r];
        if (receive->rank != from->rank || receive->done)
            continue;
        assert_int_equal(receive->bytes, send->bytes);
        memcpy(receive->in, send->out, send->bytes);
        send->done = receive->done = true;
    }
}

static bool exchanges(struct operation *head)
{
    bool done = true;
    for (int n = 0; n < head->sends; n++) {
        if (!head->send[n].done)
            deliver(head, &head->send[n]);
        done = done && head->send[n].done;
    }
    for (int n = 0; n < head->receives; n++)
        done = done && head->receive[n].done;
    return done;
}

static void write_to(const struct operation *head)
{
    const struct move *move = &head->send[0];
    const struct fake_window *there = &windows[move->rank][head->window];
    if (move->bytes > 0) {
        assert_true(head->window < window_count[move->rank]);
        assert_true(head->offset + move->bytes <= there->bytes);
        memcpy(there->at + head->offset, move->out, move->bytes);
    }
    signals_sent[head->rank][move->rank]++;
}

/* Lets an operation go on. Returns whether it is done. */
static bool go_on(struct operation *head)
{
    switch (head->kind) {
    case CALL:
        call_kernel(head->state->field[head->begins], head->state->field[head->begins ^ 1],
                    layers_of_state(head->state), head->state->problem->radius, head->sweeps,
                    head->part, head->ends);
        return true;
    case RECORD: return happened[head->event] = true;
    case WAIT: return happened[head->event];
    case EXCHANGE: return exchanges(head);
    case WRITE: write_to(head); return true;
    case AWAIT: return signals_sent[head->from][head->rank] >= head->signals;
    }
    return true;
}

static void drain(const char *text)
{
    int left = 0, idle = 0;
    for (int n = 0; n < stream_count; n++)
        left += streams[n]->end;
    /* now and then a stream goes as far as it can, which shows missing waits */
    while (left > 0) {
        struct stream *stream = streams[any(stream_count)];
        for (int more = any(3) ? 1 : OPERATIONS; more > 0 && head_of(stream); more--) {
            if (!go_on(head_of(stream)))
                break;
            stream->first++;
            left--;
            idle = 0;
        }
        if (idle++ > 100 * stream_count)
            fail_msg("%s: streams wait for each other", text);
    }
    for (int n = 0; n < stream_count; n++)
        streams[n]->first = streams[n]->end = 0;
}

/* ---- a case ---------------------------------------------------------------------------------- */

static void make_problem(struct hs_problem *problem, int64_t layers, int radius, bool wraps)
{
    hs_problem_init(problem);
    problem->grid.dims = 3;
    problem->grid.points[HS_X] = problem->grid.points[HS_Y] = 2;
    problem->grid.points[HS_Z] = layers;
    problem->radius = radius;
    problem->raw = true;
    for (int side = 0; side < 2; side++)
        problem->face[2 * HS_Z + side] = (struct hs_face){.wrap = wraps};
}

/* Sweeps by the definition. */
static void sweep_whole(double *field, int64_t layers, int64_t radius, bool wraps)
{
    double *wide = hs_new((size_t)(layers + 2 * radius) * LAYER * sizeof *wide);
    for (int64_t k = -radius; k < layers + radius; k++)
        memcpy(&wide[(k + radius) * LAYER], &field[(k + layers) % layers * LAYER],
               LAYER * sizeof *wide);
    for (int64_t k = wraps ? 0 : radius; k < (wraps ? layers : layers - radius); k++)
        sweep_layer(&wide[(k + radius) * LAYER], radius, &field[k * LAYER]);
    free(wide);
}

/* The slab's own layers and held layers come from `whole`; its halo has useless values. */
static void fill_slab(struct hs_part *part, const double *whole)
{
    const struct hs_slab *slab = &part->slab.shape.slab;
    for (int f = 0; f < 2; f++)
        for (int64_t k = 0; k < layers_of_state(part->state); k++)
            for (int n = 0; n < LAYER; n++)
                part->state->field[f][k * LAYER + n] =
                    k >= slab->lo && k < slab->hi ? whole[hs_slab_layer(slab, k) * LAYER + n]
                                                  : 1000.0 + any(1000);
}

static void compare_slab(struct hs_part *part, const double *whole, const char *text)
{
    const struct hs_slab *slab = &part->slab.shape.slab;
    const double *field = part->state->field[part->state->now];
    for (int64_t k = slab->lo; k < slab->hi; k++)
        if (memcmp(&field[k * LAYER], &whole[hs_slab_layer(slab, k) * LAYER],
                   LAYER * sizeof *field) != 0)
            fail_msg("%s: layer %lld differs", text, (long long)hs_slab_layer(slab, k));
}

static void try_case(int n)
{
    const int ranks = 2 + any(RANKS - 1), radius = 1 + any(3), steps = 1 + any(4);
    const bool wraps = any(2), overlap = any(3), writes = any(3);
    bool all_split = true;
    const int64_t layers = (int64_t)ranks * steps * radius + any(60);
    struct hs_problem problem;
    char text[160];
    struct hs_request request = {.steps = steps, .span.count = 1 + any(20)};
    snprintf(text, sizeof text,
             "case %d: %d ranks, %lld layers%s, radius %d, %d of %lld sweeps%s%s", n, ranks,
             (long long)layers, wraps ? " that wrap" : "", radius, steps,
             (long long)request.span.count, overlap ? ", in parts" : "",
             writes ? ", one-sided writes" : "");
    snprintf(request.kernel, sizeof request.kernel, "openmp");
    make_problem(&problem, layers, radius, wraps);
    problem.solver.overlap = overlap;
    double *whole = hs_new((size_t)layers * LAYER * sizeof *whole);
    for (int64_t i = 0; i < layers * LAYER; i++)
        whole[i] = any(1 << 20) * 0x1p-20;
    hs_wire.ranks = hs_wire.locals = ranks;
    stream_count = event_count = 0;
    memset(happened, 0, sizeof happened);
    memset(window_count, 0, sizeof window_count);
    memset(signals_sent, 0, sizeof signals_sent);
    memset(signals_due, 0, sizeof signals_due);
    hs_device_wire_join(true);
    shares = writes;
    for (hs_wire.rank = 0; hs_wire.rank < ranks; hs_wire.rank++) {
        struct hs_part *here = &parts[hs_wire.rank];
        assert_ok(hs_part_create(here, &problem, &fake, &request, &err));
        hs_part_join(here, NULL);
        all_split = all_split && here->splits;
    }
    for (int r = 0; r < ranks; r++) /* as if they had joined at the same time */
        parts[r].splits = all_split;
    drain(text);
    for (int r = 0; r < ranks; r++)
        fill_slab(&parts[r], whole);
    for (int again = 0; again < 2; again++) {
        for (hs_wire.rank = 0; hs_wire.rank < ranks; hs_wire.rank++)
            assert_ok(hs_part_sweep(&parts[hs_wire.rank], &request, &err));
        drain(text);
        for (int64_t sweep = 0; sweep < request.span.count; sweep++)
            sweep_whole(whole, layers, radius, wraps);
        for (int r = 0; r < ranks; r++)
            compare_slab(&parts[r], whole, text);
    }
    for (int r = 0; r < ranks; r++)
        hs_part_destroy(&parts[r]);
    for (int s = 0; s < stream_count; s++)
        free(streams[s]);
    free(whole);
}

void test_part__any_order_of_streams_gives_the_bits_of_the_whole(void **state)
{
    const char *first = getenv("SEED"), *many = getenv("MANY");
    seed = 7919 * (uint64_t)(first ? atoi(first) : 1) + 13;
    for (int n = 0; n < (many ? atoi(many) : 1000); n++)
        try_case(n);
}

/* Otherwise they would wait for ever, or what they sent would be taken for an answer to something
 * else. */
void test_part__a_download_that_fails_here_takes_what_others_send(void **state)
{
    enum { LAYERS = 12 };
    struct hs_part part;
    struct hs_problem problem;
    struct hs_request request = {.steps = 1, .span.count = 1, .kernel = "openmp"};
    request.box = (struct hs_box){{0, 0, 0}, {2, 2, LAYERS}};
    make_problem(&problem, LAYERS, 1, false);
    hs_wire.ranks = hs_wire.locals = 3;
    hs_wire.rank = 0;
    stream_count = event_count = 0;
    assert_ok(hs_part_create(&part, &problem, &fake, &request, &err));
    others_send = true;
    memset(heard, 0, sizeof heard);
    char *values = hs_new(LAYERS * LAYER * sizeof(double));
    assert_fails(hs_part_download(&part, &request, values, &err), HS_DEVICE, "");
    free(values);
    others_send = false;
    assert_int_equal(heard[0] + heard[1] + heard[2], 8 * LAYER * sizeof(double));
    hs_part_destroy(&part);
}
