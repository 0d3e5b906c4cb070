#include "input/npy.h"

#include "core/memory.h"
#include "core/regular.h"

#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char magic[] = "\x93NUMPY";
enum { LONGEST_HEADER = 1 << 16 }; /* about 100 bytes for a plain array */

bool hs_npy_begins(const void *bytes, size_t count)
{
    return count >= HS_NPY_MAGIC && memcmp(bytes, magic, HS_NPY_MAGIC) == 0;
}

bool hs_npy_is_at(const char *path)
{
    char head[HS_NPY_MAGIC];
    const char *why;
    const int file = hs_regular_open(path, false, &why);
    const ssize_t begun = file < 0 ? 0 : pread(file, head, sizeof head, 0);
    if (file >= 0)
        close(file);
    return begun > 0 && hs_npy_begins(head, (size_t)begun);
}

static enum hs_status damaged(struct hs_error *why, const char *what)
{
    return hs_error_add(why, HS_IO, "its header %s; it is damaged, save it again", what);
}

/* A dictionary as Python writes it: {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }.
 * For a table with columns the type is a list; Python 2 wrote lengths as 3L. */
#define BLANK "[ \t\r\n]*"
#define COLON "['\"]" BLANK ":" BLANK
#define MEMBER                                                                                     \
    BLANK "(['\"]descr" COLON "['\"]([^'\"]*)['\"]|['\"]fortran_order" COLON "(True|False)|"       \
          "['\"]shape" COLON "\\(((" BLANK "[0-9]+L?" BLANK ",)*" BLANK "([0-9]+L?)?" BLANK        \
          ")\\))" BLANK
#define DICTIONARY "^" BLANK "\\{" MEMBER "," MEMBER "," MEMBER ",?" BLANK "\\}" BLANK "$"
enum { MEMBERS = 3, TYPE = 2, ORDER = 3, SHAPE = 4, GROUPS = 6 }; /* groups of a member, from 1 */

/* The text that matched a group of the pattern; NULL unless exactly one member has it. */
static char *part_of(const char *text, const regmatch_t *found, int group)
{
    const regmatch_t *at = NULL;
    int count = 0;
    for (const regmatch_t *m = found + group; m < found + MEMBERS * GROUPS + 1; m += GROUPS)
        if (m->rm_so >= 0) {
            at = m;
            count++;
        }
    return count == 1 ? hs_format("%.*s", (int)(at->rm_eo - at->rm_so), text + at->rm_so) : NULL;
}

static bool matches(const char *text, const char *pattern, size_t count, regmatch_t *found)
{
    regex_t compiled;
    const bool match = regcomp(&compiled, pattern, REG_EXTENDED) == 0 &&
                       regexec(&compiled, text, count, found, 0) == 0;
    regfree(&compiled);
    return match;
}

/* "<f8": byte order, kind, width. */
static enum hs_status set_type(struct hs_npy *npy, const char *type, struct hs_error *why)
{
    const unsigned one = 1;
    const char native = *(const unsigned char *)&one == 1 ? '<' : '>';
    if (!matches(type, "^([<>=]f[48]|[|<>=][iub]1|[<>=][iu][248])$", 0, NULL))
        return hs_error_add(why, HS_BAD_INPUT,
                            "its numbers are of NumPy's type %s; float64, float32, integers and "
                            "bool are read: save array.astype(\"float64\")",
                            type);
    npy->kind = type[1];
    npy->width = type[2] - '0';
    npy->big_endian = (type[0] == '=' ? native : type[0]) == '>';
    return HS_OK;
}

static enum hs_status set_shape(struct hs_npy *npy, const char *shape, struct hs_error *why)
{
    bool counted = true;
    npy->bytes = npy->width;
    for (const char *p = shape + strcspn(shape, "0123456789"); *p; p += strcspn(p, "0123456789")) {
        char *end;
        errno = 0;
        const int64_t length = strtoll(p, &end, 10);
        if (npy->rank == HS_NPY_RANK || errno)
            return damaged(why, "is not that of an array");
        npy->shape[npy->rank++] = length;
        counted = counted && !__builtin_mul_overflow(npy->bytes, length, &npy->bytes);
        p = end;
    }
    int64_t end;
    if (!counted || __builtin_add_overflow(npy->bytes, npy->at, &end))
        return damaged(why, "gives more numbers than can be counted");
    return HS_OK;
}

static enum hs_status parse(const char *text, struct hs_npy *out, struct hs_error *why)
{
    regmatch_t found[1 + MEMBERS * GROUPS];
    if (matches(text, "['\"]descr" COLON "\\[", 0, NULL))
        return set_type(out, "a table of columns", why);
    if (!matches(text, DICTIONARY, 1 + MEMBERS * GROUPS, found))
        return damaged(why, "is not that of an array");
    char *type = part_of(text, found, TYPE), *order = part_of(text, found, ORDER),
         *shape = part_of(text, found, SHAPE);
    enum hs_status status =
        type && order && shape ? set_type(out, type, why) : damaged(why, "is not that of an array");
    if (!status) {
        out->fortran = order[0] == 'T';
        status = set_shape(out, shape, why);
    }
    free(type);
    free(order);
    free(shape);
    return status;
}

static enum hs_status cut_short(struct hs_error *why)
{
    return hs_error_add(why, HS_IO, "is cut short; copy it again");
}

enum hs_status hs_npy_read_header(int file, struct hs_npy *out, struct hs_error *why)
{
    struct stat status;
    unsigned char head[12] = {0};
    const ssize_t begun = pread(file, head, sizeof head, 0);
    *out = (struct hs_npy){.rank = 0};
    if (begun < 0 || fstat(file, &status))
        return hs_error_add(why, HS_IO, "%s", strerror(errno));
    const int version = head[HS_NPY_MAGIC], begin = version == 1 ? 10 : 12;
    if (begun < begin)
        return cut_short(why);
    if (version < 1 || version > 3)
        return damaged(why, "is of a version that is not known");
    /* the length, little-endian: two bytes in version 1, four later */
    uint32_t length = head[8] | (uint32_t)head[9] << 8;
    if (version > 1)
        length |= (uint32_t)head[10] << 16 | (uint32_t)head[11] << 24;
    if (length > LONGEST_HEADER)
        return damaged(why, "is longer than that of an array of numbers");
    char *text = hs_new(length + 1);
    out->at = begin + length;
    const bool read = pread(file, text, length, begin) == (ssize_t)length;
    const enum hs_status parsed = read ? parse(text, out, why) : cut_short(why);
    free(text);
    const int64_t needed = out->at + out->bytes;
    if (parsed || status.st_size >= needed)
        return parsed;
    return hs_error_add(
        why, HS_IO, "is cut short: its array takes %lld bytes, the file has %lld; copy it again",
        (long long)needed, (long long)status.st_size);
}
