/* Boxes of nodes between dense host memory and fields on the device, and between two fields. */
#include "engine/backends/cuda_parts.cuh"

namespace
{

/* Where the first node of a box lies, and bytes to the next row and to the next plane. */
struct place {
    char *first;
    int64_t row, plane;
};

place in_field(const hs_layout *layout, hs_precision precision, const hs_box *box, void *field)
{
    const int64_t size = (int64_t)hs_precision_size(precision);
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

hs_status copy(const place &from, const place &to, hs_precision precision, const hs_box *box,
               cudaMemcpyKind kind, cudaStream_t stream, hs_error *err)
{
    int64_t count[HS_AXES]; /* bytes of a row, rows, planes */
    for (int axis = 0; axis < HS_AXES; axis++)
        count[axis] = box->hi[axis] - box->lo[axis];
    count[HS_X] *= (int64_t)hs_precision_size(precision);
    /* a single node or row needs no more; and cudaMemcpy3D takes no pitch of 2^31 bytes */
    const bool by_rows =
        count[HS_Y] * count[HS_Z] == 1 || from.row > INT32_MAX || to.row > INT32_MAX;
    const hs_status st = by_rows ? copy_rows(from, to, count, kind, stream, err)
                                 : copy_block(from, to, count, kind, stream, err);
    if (st)
        return st;
    HS_CUDA_TRY(err, cudaStreamSynchronize(stream));
    return HS_OK;
}

} // namespace

hs_status hs_cuda_copy(const hs_layout *layout, hs_precision precision, const hs_box *box,
                       void *dense, void *field, bool to_device, cudaStream_t stream, hs_error *err)
{
    const int64_t row = (box->hi[HS_X] - box->lo[HS_X]) * (int64_t)hs_precision_size(precision);
    const place outside = {(char *)dense, row, row * (box->hi[HS_Y] - box->lo[HS_Y])};
    const place inside = in_field(layout, precision, box, field);
    return to_device ? copy(outside, inside, precision, box, cudaMemcpyHostToDevice, stream, err)
                     : copy(inside, outside, precision, box, cudaMemcpyDeviceToHost, stream, err);
}

hs_status hs_cuda_copy_field(const hs_layout *layout, hs_precision precision, const hs_box *box,
                             void *from, void *to, cudaStream_t stream, hs_error *err)
{
    return copy(in_field(layout, precision, box, from), in_field(layout, precision, box, to),
                precision, box, cudaMemcpyDeviceToDevice, stream, err);
}
