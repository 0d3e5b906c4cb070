#include "output/field_set.h"

/* Puts the values of the grid's axes in HDF5's order, slowest first. */
static void put_axes(const struct hs_chunks *chunks, const int64_t values[HS_AXES], hsize_t *out)
{
    const int dims = chunks->grid.dims;
    for (int d = 0; d < dims; d++)
        out[d] = (hsize_t)values[dims - 1 - d];
}

/* Registers with HDF5 the chunks that the store has already written, and their offsets. */
static void list_chunks(struct hs_h5 *h5, hid_t set, const char *name,
                        const struct hs_chunks *chunks, int lead, struct hs_image *image)
{
    static const char nothing; /* the driver drops the bytes */
    const int64_t steps = lead ? chunks->steps : 1;
    for (int64_t step = 0; step < steps; step++)
        for (int64_t n = 0; n < chunks->per_step && !h5->failed; n++) {
            const struct hs_chunk *chunk = &chunks->list[step * chunks->per_step + n];
            int64_t node[HS_AXES];
            hs_chunks_origin(chunks, n, node);
            hsize_t origin[1 + HS_AXES] = {(hsize_t)step};
            put_axes(chunks, node, origin + lead);
            image->placed = chunk->at;
            hs_h5_made(h5,
                       H5Dwrite_chunk(set, H5P_DEFAULT, chunk->skipped, origin,
                                      (size_t)chunk->bytes, &nothing),
                       name);
        }
}

static hid_t form_of(struct hs_h5 *h5, const char *name, const struct hs_chunks *chunks, int lead)
{
    hsize_t chunk[1 + HS_AXES] = {1};
    put_axes(chunks, chunks->chunk, chunk + lead);
    const hid_t form = hs_h5_made(h5, H5Pcreate(H5P_DATASET_CREATE), name);
    hs_h5_made(h5, H5Pset_chunk(form, lead + chunks->grid.dims, chunk), name);
    hs_h5_made(h5, H5Pset_fill_time(form, H5D_FILL_TIME_NEVER), name);
    if (chunks->compression > 0) {
        hs_h5_made(h5, H5Pset_shuffle(form), "the shuffle filter");
        hs_h5_made(h5, H5Pset_deflate(form, (unsigned)chunks->compression), "the deflate filter");
    }
    hs_h5_made(h5, H5Pset_fletcher32(form), "the Fletcher32 filter");
    return form;
}

static hid_t type_of(const struct hs_chunks *chunks)
{
    switch (chunks->size) {
    case sizeof(uint8_t): return H5T_STD_U8LE;
    case sizeof(uint16_t): return H5T_STD_U16LE;
    case sizeof(float): return H5T_IEEE_F32LE;
    default: return H5T_IEEE_F64LE;
    }
}

hid_t hs_field_set(struct hs_h5 *h5, hid_t at, const char *name, const struct hs_chunks *chunks,
                   int lead, struct hs_image *image)
{
    const int dims = lead + chunks->grid.dims;
    hsize_t length[1 + HS_AXES] = {(hsize_t)chunks->steps}, most[1 + HS_AXES] = {H5S_UNLIMITED};
    put_axes(chunks, chunks->grid.points, length + lead);
    put_axes(chunks, chunks->grid.points, most + lead);
    const hid_t form = form_of(h5, name, chunks, lead);
    const hid_t space = hs_h5_made(h5, H5Screate_simple(dims, length, most), name);
    const hid_t link = hs_h5_made(h5, H5Pcreate(H5P_LINK_CREATE), name);
    hs_h5_made(h5, H5Pset_create_intermediate_group(link, 1), name);
    const hid_t set =
        hs_h5_made(h5, H5Dcreate2(at, name, type_of(chunks), space, link, form, H5P_DEFAULT), name);
    list_chunks(h5, set, name, chunks, lead, image);
    hs_h5_close(link);
    hs_h5_close(space);
    hs_h5_close(form);
    return set;
}
