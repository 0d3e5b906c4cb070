#include "output/image.h"

#include "core/memory.h"

#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif
#include <stdlib.h>
#include <string.h>

/* HDF5's handle of an open file; the public part must come first. */
struct driver_file {
    H5FD_t public;
    struct hs_image *image;
    haddr_t end; /* of allocated space, as HDF5 sees it */
    int begun;   /* the superblock's space is allocated */
};

static H5FD_t *driver_open(const char *name, unsigned flags, hid_t access, haddr_t most)
{
    (void)name, (void)flags, (void)most;
    struct hs_image *const *image = H5Pget_driver_info(access);
    if (!image)
        return NULL;
    struct driver_file *file = hs_new(sizeof *file);
    file->image = *image;
    file->image->placed = -1;
    file->image->used = 0;
    return &file->public;
}

/* By now everything is written, including the superblock. */
static herr_t driver_close(H5FD_t *public)
{
    struct hs_image *image = ((struct driver_file *)public)->image;
    const int failed =
        hs_contents_sum_make(image->superblock, image->base, image->bytes, image->used);
    free(public);
    return failed;
}

static herr_t driver_query(const H5FD_t *public, unsigned long *flags)
{
    (void)public;
    *flags = 0; /* no sieve buffer, no aggregation: HDF5 passes every byte on at once */
    return 0;
}

/* Makes the image `used` bytes long; new bytes are zero. */
static int stretch(struct hs_image *image, size_t used)
{
    if (used > image->capacity) {
        const size_t capacity = used + used / 2 + 65536;
        unsigned char *bytes = realloc(image->bytes, capacity);
        if (!bytes)
            return -1;
        image->bytes = bytes;
        image->capacity = capacity;
    }
    if (used > image->used)
        memset(image->bytes + image->used, 0, used - image->used);
    image->used = used;
    return 0;
}

static haddr_t driver_alloc(H5FD_t *public, H5FD_mem_t type, hid_t transfer, hsize_t size)
{
    (void)transfer;
    struct driver_file *file = (struct driver_file *)public;
    struct hs_image *image = file->image;
    if (!file->begun) { /* HDF5 allocates the superblock first */
        file->begun = 1;
        if (type != H5FD_MEM_SUPER || size != HS_SUPERBLOCK_BYTES ||
            stretch(image, HS_CONTENTS_SUM_BYTES))
            return HADDR_UNDEF;
        file->end = (haddr_t)image->end;
        return 0;
    }
    if (type == H5FD_MEM_DRAW && image->placed >= 0) {
        const haddr_t at = (haddr_t)image->placed;
        image->placed = -1;
        return at;
    }
    const size_t begin = (image->used + 7) / 8 * 8;
    if (stretch(image, begin + (size_t)size))
        return HADDR_UNDEF;
    const haddr_t at = (haddr_t)image->base + begin;
    file->end = at + size > file->end ? at + size : file->end;
    return at;
}

static haddr_t driver_get_eoa(const H5FD_t *public, H5FD_mem_t type)
{
    (void)type;
    return ((const struct driver_file *)public)->end;
}

/* HDF5 extends or frees the last allocation by moving the end. */
static herr_t driver_set_eoa(H5FD_t *public, H5FD_mem_t type, haddr_t end)
{
    (void)type;
    struct driver_file *file = (struct driver_file *)public;
    struct hs_image *image = file->image;
    const haddr_t base = (haddr_t)image->base;
    if (file->begun && file->end == base + image->used && end >= base &&
        stretch(image, (size_t)(end - base)))
        return -1;
    file->end = end;
    return 0;
}

/* The memory of the bytes at file offset `at`; NULL if they are raw data already in the file. */
static unsigned char *bytes_at(struct hs_image *image, haddr_t at, size_t size)
{
    if (at + size <= HS_SUPERBLOCK_BYTES)
        return image->superblock + at;
    const haddr_t base = (haddr_t)image->base;
    if (at >= base && at + size <= base + image->used)
        return image->bytes + (at - base);
    return NULL;
}

static herr_t driver_read(H5FD_t *public, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t size,
                          void *buffer)
{
    (void)type, (void)transfer;
    const unsigned char *from = bytes_at(((struct driver_file *)public)->image, at, size);
    if (!from)
        return -1;
    memcpy(buffer, from, size);
    return 0;
}

static herr_t driver_write(H5FD_t *public, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t size,
                           const void *buffer)
{
    (void)transfer;
    unsigned char *to = bytes_at(((struct driver_file *)public)->image, at, size);
    if (to)
        memcpy(to, buffer, size);
    return to || type == H5FD_MEM_DRAW ? 0 : -1;
}

static herr_t driver_truncate(H5FD_t *public, hid_t transfer, hbool_t closing)
{
    (void)transfer, (void)closing;
    struct driver_file *file = (struct driver_file *)public;
    file->image->end = (int64_t)file->end;
    return 0;
}

static const H5FD_class_t driver = {
#if H5_VERSION_GE(1, 13, 0)
    .version = H5FD_CLASS_VERSION,
    .value = (H5FD_class_value_t)600, /* private drivers have 512 to 65535 */
#endif
    .name = "heatsolve image",
    .maxaddr = (haddr_t)INT64_MAX,
    .fc_degree = H5F_CLOSE_STRONG,
    .fapl_size = sizeof(struct hs_image *),
    .open = driver_open,
    .close = driver_close,
    .query = driver_query,
    .alloc = driver_alloc,
    .get_eoa = driver_get_eoa,
    .set_eoa = driver_set_eoa,
    .get_eof = driver_get_eoa,
    .read = driver_read,
    .write = driver_write,
    .truncate = driver_truncate,
};

static hid_t driver_id(void)
{
    static hid_t id = H5I_INVALID_HID; /* registered once, for the life of the process */
    if (id < 0 || H5Iis_valid(id) <= 0)
        id = H5FDregister(&driver);
    return id;
}

hid_t hs_image_open(struct hs_h5 *h5, struct hs_image *image)
{
    hs_h5_quiet();
    memset(image->superblock, 0, sizeof image->superblock);
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    hid_t file = H5I_INVALID_HID;
    /* block sizes of 0: each object is allocated separately, and nothing is left over at the end;
     * the earliest format: its superblock has a fixed size and every reader supports it */
    if (access >= 0 && H5Pset_driver(access, driver_id(), &image) >= 0 &&
        H5Pset_meta_block_size(access, 0) >= 0 && H5Pset_small_data_block_size(access, 0) >= 0 &&
        H5Pset_libver_bounds(access, H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST) >= 0)
        file = H5Fcreate("contents", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    hs_h5_close(access);
    return hs_h5_made(h5, file, "the file's contents");
}

enum hs_status hs_image_close(struct hs_h5 *h5, hid_t root, const char *path, struct hs_error *err)
{
    if (root >= 0)
        hs_h5_made(h5, H5Fclose(root), "the file's contents");
    return h5->failed
               ? hs_error_add(err, HS_IO, "%s: HDF5 could not make %s; is there memory left?", path,
                              h5->failed)
               : HS_OK;
}

void hs_image_release(struct hs_image *image)
{
    free(image->bytes);
    *image = (struct hs_image){.placed = -1};
}
