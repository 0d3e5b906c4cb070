#include "output/beside.h"

#include "core/memory.h"
#include "core/regular.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *hs_beside_name(const char *path)
{
    return hs_format("%s.part", path);
}

/* `doing`: a verb, "write". */
static enum hs_status failed(const char *path, const char *doing, int number, const char *elsewhere,
                             struct hs_error *err)
{
    const char *first = number == ENOSPC || number == EDQUOT  ? "free space there, or "
                        : number == EACCES || number == EPERM ? "make it writable, or "
                                                              : "";
    return hs_error_add(err, HS_IO, "%s: cannot %s: %s; %s%s", path, doing, strerror(number), first,
                        elsewhere);
}

enum hs_status hs_beside_clear(const char *part, const char *elsewhere, struct hs_error *err)
{
    const enum hs_status st = hs_existing_check_part(part, elsewhere, err);
    if (st || hs_existing_at(part, false) == HS_EXISTING_NOTHING)
        return st;
    if (unlink(part) && errno != ENOENT)
        return failed(part, "remove", errno, elsewhere, err);
    return HS_OK;
}

enum hs_status hs_beside_open(const char *path, enum hs_existing own, const char *elsewhere,
                              struct hs_beside *out, struct hs_error *err)
{
    enum hs_status st = hs_existing_check(path, own, elsewhere, err);
    *out = (struct hs_beside){
        .path = path, .elsewhere = elsewhere, .own = own, .part = hs_beside_name(path)};
    if (!st)
        st = hs_beside_clear(out->part, elsewhere, err);
    const int file =
        st ? -1 : open(out->part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (!st) {
        out->file = hs_regular_adopt(file, "wb");
        if (!out->file)
            st = failed(path, "write", errno, elsewhere, err);
        if (!out->file && file >= 0)
            unlink(out->part);
    }
    if (st)
        free(out->part);
    return st;
}

static void put(struct hs_beside *beside, const void *bytes, size_t size)
{
    errno = 0;
    if (!beside->number && fwrite(bytes, 1, size, beside->file) != size)
        beside->number = errno ? errno : EIO;
}

void hs_beside_write(struct hs_beside *beside, const void *bytes, size_t size)
{
    const size_t room = beside->part ? sizeof beside->first - beside->first_size : 0;
    const size_t kept = size < room ? size : room;
    memcpy(beside->first + beside->first_size, bytes, kept);
    put(beside, hs_existing_part_mark + beside->first_size, kept);
    put(beside, (const char *)bytes + kept, size - kept);
    beside->first_size += kept;
}

enum hs_status hs_beside_close(struct hs_beside *beside, bool whole, struct hs_error *err)
{
    enum hs_status st = HS_OK;
    const bool mine = hs_regular_has_name(fileno(beside->file), beside->part);
    if (whole && beside->first_size > 0) {
        if (fseek(beside->file, 0, SEEK_SET) && !beside->number)
            beside->number = errno;
        put(beside, beside->first, beside->first_size);
    }
    errno = 0;
    if (fclose(beside->file) && !beside->number)
        beside->number = errno ? errno : EIO;
    if (beside->number && whole)
        st = failed(beside->path, "write", beside->number, beside->elsewhere, err);
    if (!st && whole)
        st = hs_existing_check(beside->path, beside->own, beside->elsewhere, err);
    if (!st && whole && !mine)
        st = hs_error_add(err, HS_IO, "%s: another run is writing it; wait until that has ended",
                          beside->path);
    if (!st && whole && rename(beside->part, beside->path))
        st = failed(beside->path, "put the file there", errno, beside->elsewhere, err);
    if (mine && (st || !whole))
        unlink(beside->part);
    free(beside->part);
    return st;
}

enum hs_status hs_beside_replace(const char *path, enum hs_existing own, const char *text,
                                 struct hs_error *err)
{
    struct hs_beside beside;
    HS_TRY(hs_beside_open(path, own, hs_existing_elsewhere, &beside, err));
    hs_beside_write(&beside, text, strlen(text));
    return hs_beside_close(&beside, true, err);
}
