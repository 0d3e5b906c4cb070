/* Conjugate gradients on the fields of the backend: core/krylov.h on the GPU. */
#include "engine/backends/cuda_krylov.cuh"
#include "engine/backends/cuda_state.cuh"

namespace
{

hs_cuda_pitched field_of(hs_backend_state *state, int number)
{
    hs_cuda_pitched field = {};
    field.precision = state->problem->precision;
    field.nodes = hs_cuda_field(state, number);
    for (int axis = 0; axis < HS_AXES; axis++)
        field.pitch[axis] = state->layout.pitch[axis];
    return field;
}

hs_status create(hs_backend_state *state, const hs_equations *equations, hs_krylov_state **out,
                 hs_error *err)
{
    HS_CUDA_TRY(err, cudaSetDevice(state->device));
    return hs_cuda_krylov_create(equations, state->stream, out, err);
}

hs_status load(hs_backend_state *state, hs_krylov_state *self, int vector, int number,
               hs_error *err)
{
    const hs_cuda_pitched field = field_of(state, number);
    return hs_cuda_krylov_move(self, vector, &field, false, err);
}

hs_status store(hs_backend_state *state, hs_krylov_state *self, int vector, int number,
                hs_error *err)
{
    const hs_cuda_pitched field = field_of(state, number);
    state->change = HS_CUDA_CHANGE_NOT_KNOWN;
    return hs_cuda_krylov_move(self, vector, &field, true, err);
}

hs_status put_source(hs_backend_state *state, hs_krylov_state *self, int vector, double t,
                     hs_error *err)
{
    const hs_cuda_pitched to = hs_cuda_krylov_at(self, vector);
    return hs_cuda_source_rate(&state->source, t, to.pitch, (double *)to.nodes, err);
}

} // namespace

extern const hs_device_krylov hs_cuda_krylov = {
    .vectors = &hs_cuda_krylov_vectors,
    .bytes = hs_cuda_krylov_bytes,
    .create = create,
    .load = load,
    .store = store,
    .source = put_source,
};
