/* Boxes of nodes between dense host memory and fields on the device, and between two fields. */
#include "engine/backends/cuda_parts.cuh"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

namespace
{

enum {
    DIRECT_BYTES = 1 << 16 /* up to this a copy is over before a second could overlap */
};

/* Where the first node of a box lies, and bytes to the next row and to the next plane. */
struct place {
    char *first;
    int64_t row, plane;
};

place in_field(const hs_cuda_staging *of, const hs_box *box, void *field)
{
    const hs_layout *layout = of->layout;
    const int64_t size = (int64_t)hs_precision_size(of->precision);
    const int64_t first =
        hs_layout_offset(layout, box->lo[HS_X], box->lo[HS_Y], box->lo[HS_Z]) * size;
    return {(char *)field + first, layout->pitch[HS_Y] * size, layout->pitch[HS_Z] * size};
}

hs_status copy_rows(const place &from, const place &to, const int64_t count[HS_AXES],
                    cudaMemcpyKind kind, cudaStream_t stream, hs_error *err)
{
    for (int64_t row = 0; row < count[HS_Y] * count[HS_Z]; row++) {
        const int64_t j = row % count[HS_Y], k = row / count[HS_Y];
        HS_CUDA_TRY(err, cudaMemcpyAsync(to.first + j * to.row + k * to.plane,
                                         from.first + j * from.row + k * from.plane,
                                         (size_t)count[HS_X], kind, stream));
    }
    return HS_OK;
}

hs_status copy_block(const place &from, const place &to, const int64_t count[HS_AXES],
                     cudaMemcpyKind kind, cudaStream_t stream, hs_error *err)
{
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(from.first, (size_t)from.row, (size_t)count[HS_X],
                                      (size_t)(from.plane / from.row));
    copy.dstPtr = make_cudaPitchedPtr(to.first, (size_t)to.row, (size_t)count[HS_X],
                                      (size_t)(to.plane / to.row));
    copy.extent = make_cudaExtent((size_t)count[HS_X], (size_t)count[HS_Y], (size_t)count[HS_Z]);
    copy.kind = kind;
    HS_CUDA_TRY(err, cudaMemcpy3DAsync(&copy, stream));
    return HS_OK;
}

hs_status copy(const hs_cuda_staging *of, const place &from, const place &to, const hs_box *box,
               cudaMemcpyKind kind, hs_error *err)
{
    int64_t count[HS_AXES]; /* bytes of a row, rows, planes */
    for (int axis = 0; axis < HS_AXES; axis++)
        count[axis] = box->hi[axis] - box->lo[axis];
    count[HS_X] *= (int64_t)hs_precision_size(of->precision);
    /* a single node or row needs no more; and cudaMemcpy3D takes no pitch of 2^31 bytes */
    const bool by_rows =
        count[HS_Y] * count[HS_Z] == 1 || from.row > INT32_MAX || to.row > INT32_MAX;
    return by_rows ? copy_rows(from, to, count, kind, of->stream, err)
                   : copy_block(from, to, count, kind, of->stream, err);
}

/* A box cut into pieces, each a stretch of the box in memory order. */
struct pieces {
    hs_box box;
    int64_t piece[HS_AXES], count[HS_AXES]; /* nodes of a piece; pieces along the axis */
    size_t size;                            /* bytes of a value */
};

pieces cut(const hs_box *box, hs_precision precision, int64_t most)
{
    pieces p = {*box, {}, {}, hs_precision_size(precision)};
    int64_t bytes = (int64_t)p.size;
    for (int axis = 0; axis < HS_AXES; axis++) {
        const int64_t nodes = box->hi[axis] - box->lo[axis];
        const int64_t fit = bytes >= most ? 1 : most / bytes;
        p.piece[axis] = nodes < fit ? nodes : fit;
        p.count[axis] = hs_divide_up(nodes, p.piece[axis]);
        bytes *= p.piece[axis];
        if (p.count[axis] > 1)
            most = bytes; /* along the next axes one node each */
    }
    return p;
}

int64_t piece_count(const pieces &p)
{
    return p.count[HS_X] * p.count[HS_Y] * p.count[HS_Z];
}

hs_box piece_at(const pieces &p, int64_t n)
{
    hs_box out;
    for (int axis = 0; axis < HS_AXES; axis++) {
        out.lo[axis] = p.box.lo[axis] + n % p.count[axis] * p.piece[axis];
        out.hi[axis] = out.lo[axis] + p.piece[axis];
        if (out.hi[axis] > p.box.hi[axis])
            out.hi[axis] = p.box.hi[axis];
        n /= p.count[axis];
    }
    return out;
}

/* Bytes of the box before the piece. */
size_t offset_of(const pieces &p, const hs_box &piece)
{
    const int64_t nx = p.box.hi[HS_X] - p.box.lo[HS_X], ny = p.box.hi[HS_Y] - p.box.lo[HS_Y];
    const int64_t nodes =
        ((piece.lo[HS_Z] - p.box.lo[HS_Z]) * ny + piece.lo[HS_Y] - p.box.lo[HS_Y]) * nx +
        piece.lo[HS_X] - p.box.lo[HS_X];
    return (size_t)nodes * p.size;
}

/* One thread would copy slower than the bus, above all into memory that was never touched. */
void copy_on_host(char *to, const char *from, size_t bytes)
{
    const size_t part = 1 << 19;
    const int most = 8;
    const int64_t parts = hs_divide_up((int64_t)bytes, (int64_t)part);
    const int available = omp_get_max_threads();
    const int threads = available < most ? available : most;
#pragma omp parallel for num_threads(threads) schedule(static) if (parts > 1)
    for (int64_t n = 0; n < parts; n++) {
        const size_t first = (size_t)n * part;
        memcpy(to + first, from + first, n + 1 < parts ? part : bytes - first);
    }
}

/* A copy that is small enough to be made directly. */
hs_status copy_small(const hs_cuda_staging *staging, const hs_box *box, void *dense, void *field,
                     bool to_device, hs_error *err)
{
    HS_TRY(hs_cuda_copy_begin(staging, box, dense, field, to_device, err));
    HS_CUDA_TRY(err, cudaStreamSynchronize(staging->stream));
    return HS_OK;
}

bool is_small(const hs_box *box, hs_precision precision)
{
    return hs_box_count(box) * (int64_t)hs_precision_size(precision) <= DIRECT_BYTES;
}

} // namespace

hs_status hs_cuda_copy_begin(const hs_cuda_staging *staging, const hs_box *box, void *dense,
                             void *field, bool to_device, hs_error *err)
{
    const int64_t row =
        (box->hi[HS_X] - box->lo[HS_X]) * (int64_t)hs_precision_size(staging->precision);
    const place outside = {(char *)dense, row, row * (box->hi[HS_Y] - box->lo[HS_Y])};
    const place inside = in_field(staging, box, field);
    return to_device ? copy(staging, outside, inside, box, cudaMemcpyHostToDevice, err)
                     : copy(staging, inside, outside, box, cudaMemcpyDeviceToHost, err);
}

/* Starts the copy between the half whose turn it is and a field. */
static hs_status copy_half(hs_cuda_staging *staging, const hs_box *box, void *field, bool to_device,
                           hs_error *err)
{
    const int half = staging->turn;
    HS_TRY(hs_cuda_copy_begin(staging, box, staging->half[half], field, to_device, err));
    HS_CUDA_TRY(err, cudaEventRecord(staging->done[half], staging->stream));
    staging->turn ^= 1;
    return HS_OK;
}

hs_status hs_cuda_upload(hs_cuda_staging *staging, const hs_box *box, const void *dense,
                         void *field, hs_error *err)
{
    if (dense == staging->half[staging->turn])
        return copy_half(staging, box, field, true, err);
    if (is_small(box, staging->precision))
        return copy_small(staging, box, (void *)dense, field, true, err);
    const pieces p = cut(box, staging->precision, HS_CUDA_HALF_BYTES);
    for (int64_t n = 0; n < piece_count(p); n++) {
        const hs_box piece = piece_at(p, n);
        const size_t bytes = (size_t)hs_box_count(&piece) * p.size;
        void *half;
        HS_TRY(hs_cuda_staging_space(staging, bytes, &half, err));
        copy_on_host((char *)half, (const char *)dense + offset_of(p, piece), bytes);
        HS_TRY(copy_half(staging, &piece, field, true, err));
    }
    return HS_OK;
}

hs_status hs_cuda_download(hs_cuda_staging *staging, const hs_box *box, void *dense, void *field,
                           hs_error *err)
{
    if (is_small(box, staging->precision))
        return copy_small(staging, box, dense, field, false, err);
    const pieces p = cut(box, staging->precision, HS_CUDA_HALF_BYTES);
    hs_box piece = piece_at(p, 0), next = piece; /* none is larger than the first */
    HS_TRY(hs_cuda_staging_reserve(staging, (size_t)hs_box_count(&piece) * p.size, err));
    for (int half = 0; half < 2; half++) /* uploads may be under way */
        HS_TRY(hs_cuda_staging_wait(staging, half, err));
    HS_TRY(copy_half(staging, &piece, field, false, err));
    for (int64_t n = 0; n < piece_count(p); n++, piece = next) {
        const int half = staging->turn ^ 1;
        if (n + 1 < piece_count(p)) {
            next = piece_at(p, n + 1);
            HS_TRY(copy_half(staging, &next, field, false, err));
        }
        HS_TRY(hs_cuda_staging_wait(staging, half, err));
        copy_on_host((char *)dense + offset_of(p, piece), staging->half[half],
                     (size_t)hs_box_count(&piece) * p.size);
    }
    return HS_OK;
}

hs_status hs_cuda_copy_field(const hs_cuda_staging *staging, const hs_box *box, void *from,
                             void *to, hs_error *err)
{
    return copy(staging, in_field(staging, box, from), in_field(staging, box, to), box,
                cudaMemcpyDeviceToDevice, err);
}
