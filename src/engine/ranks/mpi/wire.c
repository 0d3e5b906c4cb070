#include "engine/ranks/mpi/wire.h"

#include "core/machine.h"
#include "core/memory.h"
#include "core/round.h"
#include "engine/ranks/together.h"
#include "engine/signals.h"

#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TAG_DATA, TAG_UP, TAG_DOWN };
enum { MOST = 1 << 30 }; /* bytes of a message: MPI counts them by an int */
enum { AT_ONCE = 4 };    /* requests that are awaited */

struct hs_wire hs_wire = {.ranks = 1, .locals = 1};
static MPI_Comm node;
static bool crowded; /* ranks of this node take turns on its processors */

bool hs_wire_begin(int *argc, char ***argv)
{
    int given = MPI_THREAD_SINGLE;
    /* the writer's thread makes requests while the main one waits */
    MPI_Init_thread(argc, argv, MPI_THREAD_SERIALIZED, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &hs_wire.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &hs_wire.ranks);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &hs_wire.local);
    MPI_Comm_size(node, &hs_wire.locals);
    crowded = hs_wire.locals >
              hs_smaller(hs_machine_processors(""), (int64_t)sysconf(_SC_NPROCESSORS_ONLN));
    return given >= MPI_THREAD_SERIALIZED || hs_wire.ranks == 1;
}

void hs_wire_end(void)
{
    MPI_Comm_free(&node);
    MPI_Finalize();
}

void hs_wire_library(char *out, size_t size)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    MPI_Get_library_version(text, &length);
    text[strcspn(text, ",\n")] = '\0';
    char *tab = strchr(text, '\t');
    if (tab)
        *tab = ' ';
    snprintf(out, size, "%.*s", (int)size - 1, text);
}

/* Polls, with longer and longer naps between polls: at most `longest` ns. */
static void await_asleep(int count, MPI_Request *request, long longest)
{
    struct timespec pause = {.tv_nsec = 1000};
    MPI_Status unused[AT_ONCE];
    int done = 0;
    for (int looks = 0; !done; looks++) {
        MPI_Testall(count, request, &done, unused);
        if (done || looks < 1000)
            continue;
        nanosleep(&pause, NULL);
        pause.tv_nsec = pause.tv_nsec < longest ? 2 * pause.tv_nsec : longest;
    }
}

/* Waits for another rank. MPI's own waiting keeps a processor busy that the other rank may need,
 * which then waits for a time slice, some ms. */
static void await(int count, MPI_Request *request)
{
    MPI_Status unused[AT_ONCE];
    if (crowded)
        await_asleep(count, request, 1000);
    else
        MPI_Waitall(count, request, unused);
}

void hs_wire_tell(void *data, size_t bytes)
{
    MPI_Request request;
    MPI_Ibcast(data, (int)bytes, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
    await_asleep(1, &request, 1000000);
}

static int part_of(size_t left)
{
    return left < MOST ? (int)left : MOST;
}

void hs_wire_send(int to, const void *data, size_t bytes)
{
    for (size_t done = 0; done < bytes; done += MOST) {
        MPI_Request request;
        MPI_Isend((const char *)data + done, part_of(bytes - done), MPI_BYTE, to, TAG_DATA,
                  MPI_COMM_WORLD, &request);
        await(1, &request);
    }
}

void hs_wire_receive(int from, void *data, size_t bytes)
{
    for (size_t done = 0; done < bytes; done += MOST) {
        MPI_Request request;
        MPI_Irecv((char *)data + done, part_of(bytes - done), MPI_BYTE, from, TAG_DATA,
                  MPI_COMM_WORLD, &request);
        await(1, &request);
    }
}

void hs_wire_exchange(const struct hs_wire_side *below, const struct hs_wire_side *above)
{
    const struct hs_wire_side *const side[] = {below, above};
    const int out_tag[] = {TAG_DOWN, TAG_UP}, in_tag[] = {TAG_UP, TAG_DOWN};
    for (size_t done = 0; done < (below->bytes > above->bytes ? below->bytes : above->bytes);
         done += MOST) {
        MPI_Request request[AT_ONCE];
        int count = 0;
        for (int s = 0; s < 2; s++) {
            if (side[s]->rank < 0 || done >= side[s]->bytes)
                continue;
            const int part = part_of(side[s]->bytes - done);
            MPI_Irecv((char *)side[s]->in + done, part, MPI_BYTE, side[s]->rank, in_tag[s],
                      MPI_COMM_WORLD, &request[count++]);
            MPI_Isend((const char *)side[s]->out + done, part, MPI_BYTE, side[s]->rank, out_tag[s],
                      MPI_COMM_WORLD, &request[count++]);
        }
        await(count, request);
    }
}

/* What each rank reports at the end of a request. */
struct word {
    int status, signal, bytes; /* of the message */
};

static void hear_message(int from, const struct word *word, struct hs_error *err)
{
    char *text = hs_new((size_t)word->bytes + 1);
    hs_wire_receive(from, text, (size_t)word->bytes);
    hs_error_add(err, (enum hs_status)word->status, "rank %d: %s", from, text);
    free(text);
}

enum hs_status hs_wire_settle(enum hs_status status, struct hs_error *err)
{
    struct word mine = {.status = (int)status, .signal = hs_signals_stop};
    if (status && hs_wire.rank > 0)
        mine.bytes = err->text ? (int)strlen(err->text) : 0;
    struct word *all = hs_new((size_t)hs_wire.ranks * sizeof *all);
    MPI_Request request;
    MPI_Igather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, 0, MPI_COMM_WORLD,
                &request);
    await(1, &request);
    int first = -1;
    for (int rank = 0; rank < hs_wire.ranks && hs_wire.rank == 0; rank++) {
        if (all[rank].signal && !hs_signals_stop)
            hs_signals_stop = all[rank].signal;
        first = first < 0 && all[rank].status ? rank : first;
    }
    int verdict[] = {first, first < 0 ? HS_OK : all[first].status};
    MPI_Ibcast(verdict, 2, MPI_INT, 0, MPI_COMM_WORLD, &request);
    await(1, &request);
    if (verdict[0] > 0 && hs_wire.rank == verdict[0])
        hs_wire_send(0, err->text, (size_t)mine.bytes);
    if (first > 0)
        hear_message(first, &all[first], err);
    free(all);
    return (enum hs_status)verdict[1];
}

bool hs_wire_apart(const void *what, size_t bytes)
{
    char *all = hs_new((size_t)hs_wire.locals * bytes + 1);
    MPI_Request request;
    MPI_Iallgather(what, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, node, &request);
    await(1, &request);
    bool apart = true;
    for (int rank = 0; rank < hs_wire.locals; rank++)
        apart = apart &&
                (rank == hs_wire.local || memcmp(all + (size_t)rank * bytes, what, bytes) != 0);
    free(all);
    return apart;
}

int hs_wire_least(int here)
{
    int least = here;
    MPI_Request request;
    MPI_Iallreduce(&here, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD, &request);
    await(1, &request);
    return least;
}

void hs_wire_abort(enum hs_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "heatsolve: rank %d: ", hs_wire.rank);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    MPI_Abort(MPI_COMM_WORLD, (int)status);
    abort();
}

/* ---- for all of the program ------------------------------------------------------------------ */

int hs_ranks_count(void)
{
    return hs_wire.ranks;
}

int hs_ranks_number(void)
{
    return hs_wire.rank;
}

enum hs_status hs_ranks_agree(enum hs_status status, struct hs_error *err)
{
    char ready = 0; /* rank 0 may take long: the others wait asleep */
    hs_wire_tell(&ready, sizeof ready);
    return hs_wire_settle(status, err);
}

void *hs_ranks_gather(const void *here, size_t bytes, size_t **each)
{
    const int ranks = hs_wire.ranks;
    size_t *size = *each = hs_new((size_t)ranks * sizeof *size), all = 0;
    MPI_Request request;
    MPI_Iallgather(&bytes, sizeof bytes, MPI_BYTE, size, sizeof bytes, MPI_BYTE, MPI_COMM_WORLD,
                   &request);
    await(1, &request);
    for (int rank = 0; rank < ranks; rank++)
        all += size[rank];
    char *out = hs_new(all + 1), *at = out;
    for (int rank = 0; rank < ranks; at += size[rank++]) {
        if (rank == hs_wire.rank && bytes > 0)
            memcpy(at, here, bytes);
        for (size_t done = 0; done < size[rank]; done += MOST) {
            MPI_Ibcast(at + done, part_of(size[rank] - done), MPI_BYTE, rank, MPI_COMM_WORLD,
                       &request);
            await(1, &request);
        }
    }
    return out;
}

void hs_ranks_add(double *sum, int64_t count)
{
    MPI_Request request;
    MPI_Iallreduce(MPI_IN_PLACE, sum, (int)count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    await(1, &request);
}

void hs_ranks_collect(const void *here, size_t bytes, void *all)
{
    size_t each = bytes;
    if (hs_wire.rank > 0) {
        hs_wire_send(0, &each, sizeof each);
        hs_wire_send(0, here, bytes);
        return;
    }
    memcpy(all, here, bytes);
    for (int rank = 1; rank < hs_wire.ranks; rank++) {
        all = (char *)all + each;
        hs_wire_receive(rank, &each, sizeof each);
        hs_wire_receive(rank, all, each);
    }
}

void hs_ranks_beside(int ranks, void *array, size_t layer, size_t own)
{
    const int here = hs_wire.rank;
    char *at = array;
    const struct hs_wire_side before = {(here + ranks - 1) % ranks, at + layer, at, layer};
    const struct hs_wire_side after = {(here + 1) % ranks, at + own, at + layer + own, layer};
    if (here < ranks)
        hs_wire_exchange(&before, &after);
}
