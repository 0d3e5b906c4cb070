#include "input/npy.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char magic[] = "\x93NUMPY";
enum {
    LONGEST_HEADER = 1 << 16, /* of a plain array it has some 100 bytes */
    BUFFER = 1 << 16,
    LONGEST_TYPE = 24
};

bool hs_npy_begins(const void *bytes, size_t count)
{
    return count >= HS_NPY_MAGIC && memcmp(bytes, magic, HS_NPY_MAGIC) == 0;
}

/* All of the bytes, or HS_IO. */
static enum hs_status read_at(int file, void *out, int64_t bytes, int64_t at, char *reason,
                              size_t size)
{
    char *to = out;
    while (bytes > 0) {
        const ssize_t n = pread(file, to, (size_t)bytes, at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            snprintf(reason, size, "%s", n < 0 ? strerror(errno) : "is cut short; copy it again");
            return HS_IO;
        }
        to += n;
        at += n;
        bytes -= n;
    }
    return HS_OK;
}

/* ---- the header ------------------------------------------------------------------------------ */

/* A dictionary as Python writes it: {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), } */
struct parser {
    const char *at;
    struct hs_npy *npy;
    char type[LONGEST_TYPE + 1]; /* "<f8" */
    unsigned seen;               /* a bit for each key */
};

static bool take(struct parser *p, const char *text)
{
    p->at += strspn(p->at, " \t\r\n");
    const size_t n = strlen(text);
    if (strncmp(p->at, text, n) != 0)
        return false;
    p->at += n;
    return true;
}

static bool take_type(struct parser *p)
{
    p->at += strspn(p->at, " ");
    if (*p->at == '[') { /* names and types of columns: nothing that we read behind it */
        snprintf(p->type, sizeof p->type, "a table of columns");
        p->at += strlen(p->at);
        return true;
    }
    const char quote = *p->at;
    const char *end = quote == '\'' || quote == '"' ? strchr(p->at + 1, quote) : NULL;
    if (!end || end - p->at - 1 > LONGEST_TYPE)
        return false;
    snprintf(p->type, sizeof p->type, "%.*s", (int)(end - p->at - 1), p->at + 1);
    p->at = end + 1;
    return true;
}

static bool take_order(struct parser *p)
{
    p->npy->fortran = take(p, "True");
    return p->npy->fortran || take(p, "False");
}

static bool take_length(struct parser *p, int64_t *out)
{
    p->at += strspn(p->at, " ");
    if (!isdigit((unsigned char)*p->at))
        return false;
    char *end;
    errno = 0;
    *out = strtoll(p->at, &end, 10);
    p->at = end + (*end == 'L'); /* as Python 2 wrote it */
    return errno == 0;
}

static bool take_shape(struct parser *p)
{
    struct hs_npy *npy = p->npy;
    if (!take(p, "("))
        return false;
    while (!take(p, ")")) {
        if (npy->rank == HS_NPY_RANK || !take_length(p, &npy->shape[npy->rank]))
            return false;
        npy->rank++;
        if (!take(p, ",") && *(p->at += strspn(p->at, " ")) != ')')
            return false;
    }
    return true;
}

static const struct {
    const char *key;
    bool (*take)(struct parser *p);
} members[] = {{"descr", take_type}, {"fortran_order", take_order}, {"shape", take_shape}};
enum { MEMBERS = sizeof members / sizeof members[0] };

static bool take_member(struct parser *p)
{
    for (int m = 0; m < MEMBERS; m++) {
        char quoted[2][24];
        snprintf(quoted[0], sizeof quoted[0], "'%s'", members[m].key);
        snprintf(quoted[1], sizeof quoted[1], "\"%s\"", members[m].key);
        if (!take(p, quoted[0]) && !take(p, quoted[1]))
            continue;
        const bool first = !(p->seen & 1u << m);
        p->seen |= 1u << m;
        return first && take(p, ":") && members[m].take(p);
    }
    return false;
}

static bool take_dictionary(struct parser *p)
{
    if (!take(p, "{"))
        return false;
    while (!take(p, "}")) {
        if (!take_member(p))
            return false;
        const bool table = *p->at == '\0';
        if (table)
            return true; /* it is refused, whatever comes behind */
        if (!take(p, ",") && *(p->at += strspn(p->at, " ")) != '}')
            return false;
    }
    return p->seen == (1u << MEMBERS) - 1;
}

/* "<f8": order of bytes, kind, width. */
static enum hs_status set_type(struct hs_npy *npy, const char *type, char *reason, size_t size)
{
    const unsigned one = 1;
    const bool little_here = *(const unsigned char *)&one == 1;
    const char order = type[0], kind = order ? type[1] : '\0';
    const int width =
        kind && strlen(type) == 3 && isdigit((unsigned char)type[2]) ? type[2] - '0' : 0;
    const bool power = width == 1 || width == 2 || width == 4 || width == 8;
    const bool known = kind == 'f'   ? width == 4 || width == 8
                       : kind == 'b' ? width == 1
                                     : (kind == 'i' || kind == 'u') && power;
    if (!known || !strchr("<>=|", order) || (order == '|' && width > 1)) {
        snprintf(reason, size,
                 "its numbers are of NumPy's type %s; float64, float32, integers and bool are "
                 "read: save array.astype(\"float64\")",
                 type);
        return HS_BAD_INPUT;
    }
    npy->kind = kind;
    npy->width = width;
    npy->turned = width > 1 && ((order == '<' && !little_here) || (order == '>' && little_here));
    return HS_OK;
}

static enum hs_status damaged(const char *what, char *reason, size_t size)
{
    snprintf(reason, size, "its header %s; it is damaged, save it again", what);
    return HS_IO;
}

static enum hs_status parse_header(const char *text, struct hs_npy *out, char *reason, size_t size)
{
    struct parser p = {.at = text, .npy = out};
    if (!take_dictionary(&p))
        return damaged("is not that of an array", reason, size);
    return set_type(out, p.type, reason, size);
}

/* Counts the numbers, and whether the file has them all. */
static enum hs_status check_length(struct hs_npy *npy, char *reason, size_t size)
{
    struct stat status;
    int64_t bytes = 0;
    npy->count = 1;
    bool fits = true;
    for (int axis = 0; axis < npy->rank; axis++)
        fits = fits && !__builtin_mul_overflow(npy->count, npy->shape[axis], &npy->count);
    fits = fits && !__builtin_mul_overflow(npy->count, (int64_t)npy->width, &bytes) &&
           !__builtin_add_overflow(bytes, npy->at, &bytes);
    if (!fits)
        return damaged("tells of more numbers than can be counted", reason, size);
    if (fstat(npy->file, &status) == 0 && status.st_size >= bytes)
        return HS_OK;
    snprintf(reason, size,
             "is cut short: its array takes %lld bytes, the file has %lld; copy it "
             "again",
             (long long)bytes, (long long)status.st_size);
    return HS_IO;
}

enum hs_status hs_npy_open(int file, struct hs_npy *out, char *reason, size_t size)
{
    unsigned char head[12] = {0};
    *out = (struct hs_npy){.file = file};
    enum hs_status status = read_at(file, head, 10, 0, reason, size);
    const int version = head[HS_NPY_MAGIC];
    if (!status && (version < 1 || version > 3))
        return damaged("is of a version that is not known", reason, size);
    if (!status && version > 1)
        status = read_at(file, head, 12, 0, reason, size);
    if (status)
        return status;
    /* the length, little-endian: two bytes in version 1, four later */
    const uint32_t length = version == 1 ? head[8] | (uint32_t)head[9] << 8
                                         : head[8] | (uint32_t)head[9] << 8 |
                                               (uint32_t)head[10] << 16 | (uint32_t)head[11] << 24;
    if (length > LONGEST_HEADER)
        return damaged("is longer than that of an array of numbers", reason, size);
    char *text = calloc(length + 1, 1);
    if (!text) {
        snprintf(reason, size, "out of memory for its header");
        return HS_DEVICE;
    }
    const int begin = version == 1 ? 10 : 12;
    out->at = begin + length;
    status = read_at(file, text, length, begin, reason, size);
    if (!status)
        status = parse_header(text, out, reason, size);
    free(text);
    return status ? status : check_length(out, reason, size);
}

/* ---- the numbers ----------------------------------------------------------------------------- */

static double number_of(const struct hs_npy *npy, const unsigned char *from)
{
    unsigned char bytes[8] = {0};
    for (int i = 0; i < npy->width; i++)
        bytes[i] = from[npy->turned ? npy->width - 1 - i : i];
    union {
        float f4;
        double f8;
        int8_t i1;
        int16_t i2;
        int32_t i4;
        int64_t i8;
        uint8_t u1;
        uint16_t u2;
        uint32_t u4;
        uint64_t u8;
    } as;
    memcpy(&as, bytes, (size_t)npy->width);
    if (npy->kind == 'f')
        return npy->width == 4 ? (double)as.f4 : as.f8;
    if (npy->kind == 'i')
        return npy->width == 1   ? as.i1
               : npy->width == 2 ? as.i2
               : npy->width == 4 ? as.i4
                                 : (double)as.i8;
    return npy->width == 1   ? as.u1
           : npy->width == 2 ? as.u2
           : npy->width == 4 ? as.u4
                             : (double)as.u8;
}

/* Where the numbers of the file go, one after the other as they lie there. */
struct walk {
    const struct hs_npy *npy;
    int first;                   /* axis of the result's first: 1 where an index is taken */
    int64_t index;               /* of axis 0; -1: all */
    int64_t place[HS_NPY_RANK];  /* of the next number */
    int64_t stride[HS_NPY_RANK]; /* in the result */
};

static void begin_walk(const struct hs_npy *npy, int64_t index, struct walk *walk)
{
    *walk = (struct walk){.npy = npy, .first = index >= 0, .index = index};
    int64_t stride = 1;
    for (int axis = npy->rank - 1; axis >= walk->first; axis--) {
        walk->stride[axis] = stride;
        stride *= npy->shape[axis];
    }
}

/* Puts a number of an array in Fortran order, whose first axis is the fastest, and steps on. */
static void put(struct walk *walk, double value, double *out)
{
    const struct hs_npy *npy = walk->npy;
    if (walk->index < 0 || walk->place[0] == walk->index) {
        int64_t at = 0;
        for (int axis = walk->first; axis < npy->rank; axis++)
            at += walk->place[axis] * walk->stride[axis];
        out[at] = value;
    }
    for (int axis = 0; axis < npy->rank && ++walk->place[axis] == npy->shape[axis]; axis++)
        walk->place[axis] = 0;
}

enum hs_status hs_npy_read(const struct hs_npy *npy, int64_t index, double *out, char *reason,
                           size_t size)
{
    struct walk walk;
    begin_walk(npy, index, &walk);
    /* in C order what has the index lies in one piece */
    const bool piece = index >= 0 && !npy->fortran;
    const int64_t count = piece ? npy->count / npy->shape[0] : npy->count;
    const int64_t first = piece ? index * count : 0;
    unsigned char *buffer = malloc(BUFFER);
    if (!buffer) {
        snprintf(reason, size, "out of memory");
        return HS_DEVICE;
    }
    enum hs_status status = HS_OK;
    for (int64_t done = 0; done < count && !status;) {
        const int64_t left = count - done, most = BUFFER / npy->width,
                      n = left < most ? left : most;
        status = read_at(npy->file, buffer, n * npy->width, npy->at + (first + done) * npy->width,
                         reason, size);
        for (int64_t i = 0; i < n && !status; i++) {
            const double value = number_of(npy, buffer + i * npy->width);
            if (npy->fortran)
                put(&walk, value, out);
            else
                out[done + i] = value;
        }
        done += n;
    }
    free(buffer);
    return status;
}
