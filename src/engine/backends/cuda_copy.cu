/* Boxes of nodes between dense host memory and a field on the device. */
#include "engine/backends/cuda_parts.cuh"

namespace
{

struct boxes {
    char *dense, *inside; /* the box's first node, there and here */
    int64_t size;         /* bytes of a value */
    int64_t count[HS_AXES];
    int64_t pitch_y, pitch_z; /* elements */
};

hs_status copy_rows(const boxes &b, bool to_device, cudaStream_t stream, hs_error *err)
{
    const size_t bytes = (size_t)(b.count[HS_X] * b.size);
    for (int64_t row = 0; row < b.count[HS_Y] * b.count[HS_Z]; row++) {
        const int64_t j = row % b.count[HS_Y], k = row / b.count[HS_Y];
        char *device = b.inside + (j * b.pitch_y + k * b.pitch_z) * b.size;
        char *host = b.dense + row * (int64_t)bytes;
        if (to_device)
            HS_CUDA_TRY(err, cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream));
        else
            HS_CUDA_TRY(err, cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, stream));
    }
    return HS_OK;
}

hs_status copy_block(const boxes &b, bool to_device, cudaStream_t stream, hs_error *err)
{
    const size_t bytes = (size_t)(b.count[HS_X] * b.size), ny = (size_t)b.count[HS_Y];
    const cudaPitchedPtr host = make_cudaPitchedPtr(b.dense, bytes, bytes, ny);
    const cudaPitchedPtr device = make_cudaPitchedPtr(b.inside, (size_t)(b.pitch_y * b.size), bytes,
                                                      (size_t)(b.pitch_z / b.pitch_y));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = to_device ? host : device;
    copy.dstPtr = to_device ? device : host;
    copy.extent = make_cudaExtent(bytes, ny, (size_t)b.count[HS_Z]);
    copy.kind = to_device ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
    HS_CUDA_TRY(err, cudaMemcpy3DAsync(&copy, stream));
    return HS_OK;
}

} // namespace

hs_status hs_cuda_copy(const hs_layout *layout, hs_precision precision, const hs_box *box,
                       void *dense, void *field, bool to_device, cudaStream_t stream, hs_error *err)
{
    boxes b = {};
    b.size = (int64_t)hs_precision_size(precision);
    b.dense = (char *)dense;
    b.inside = (char *)field +
               hs_layout_offset(layout, box->lo[HS_X], box->lo[HS_Y], box->lo[HS_Z]) * b.size;
    b.pitch_y = layout->pitch[HS_Y];
    b.pitch_z = layout->pitch[HS_Z];
    for (int axis = 0; axis < HS_AXES; axis++)
        b.count[axis] = box->hi[axis] - box->lo[axis];
    /* a single node or row needs no more; and cudaMemcpy3D takes no pitch of 2^31 bytes */
    const bool by_rows =
        b.count[HS_Y] * b.count[HS_Z] == 1 || layout->pitch[HS_Y] * b.size > INT32_MAX;
    const hs_status st =
        by_rows ? copy_rows(b, to_device, stream, err) : copy_block(b, to_device, stream, err);
    if (st)
        return st;
    HS_CUDA_TRY(err, cudaStreamSynchronize(stream));
    return HS_OK;
}
