/*
 * A network (core/network.h) as part of the conduction kernels' parameter, and a node's row in each
 * of its forms.
 */
#ifndef HS_KERNELS_CUDA_NETWORK_CUH
#define HS_KERNELS_CUDA_NETWORK_CUH

#include "vector.cuh"

namespace network
{

template <typename T>
struct palette_rows {
    const T *row;     /* [count][HS_ROW_NUMBERS] */
    const T *forcing; /* [sweeps][count] */
    int count;
};

/* One sweep, by value in the kernel's parameter. */
template <typename T>
struct request : star::request<T> {
    palette_rows<T> rows;
    const void *number;
    const T *conductance[HS_AXES], *rate, *sink, *added;
    bool joins[2]; /* whether edges lead outwards from the box's first and last nodes along x */
};

/* Whether there may be edges along x between the nodes before x and those from x on. If not,
 * nothing beside the row need be read, which saves a line of memory per row. */
template <typename T>
__device__ __forceinline__ bool joins_at(const request<T> &r, int64_t x)
{
    return (x > r.lo[HS_X] || r.joins[0]) && (x < r.hi[HS_X] || r.joins[1]);
}

/* A node's data: G of its edges to the next nodes, dt/C, g, keep and s. */
template <typename T>
struct row {
    T conductance[HS_AXES], rate, sink, keep, added;
};

/* Rows by number, in one byte or two. */
template <typename NUMBER_>
struct palette {
    using NUMBER = NUMBER_;

    template <typename T>
    __device__ static row<T> at(const request<T> &r, int64_t node)
    {
        const int n = ((const NUMBER *)r.number)[node];
        const T *const v = r.rows.row + n * HS_ROW_NUMBERS;
        return {{v[0], v[1], v[2]}, v[3], v[4], v[5], r.rows.forcing[n]};
    }
    /* G of the edge to the next node along the axis. */
    template <typename T>
    __device__ static T conductance(const request<T> &r, int axis, int64_t node)
    {
        return r.rows.row[((const NUMBER *)r.number)[node] * HS_ROW_NUMBERS + axis];
    }
};

/* An array of each member; NULL: 0 everywhere. */
struct arrays {
    template <typename T>
    __device__ static row<T> at(const request<T> &r, int64_t node)
    {
        row<T> of = {
            {}, r.rate[node], r.sink ? r.sink[node] : T(0), T(1), r.added ? r.added[node] : T(0)};
        for (int axis = 0; axis < HS_AXES; axis++)
            of.conductance[axis] = r.conductance[axis] ? r.conductance[axis][node] : T(0);
        return of;
    }
    template <typename T>
    __device__ static T conductance(const request<T> &r, int axis, int64_t node)
    {
        return r.conductance[axis][node];
    }
};

/* ---- host ---------------------------------------------------------------------------------- */

template <typename T>
palette_rows<T> rows_of(const hs_network_view *view)
{
    return {(const T *)view->row, (const T *)view->forcing, view->row_count};
}

template <typename T>
request<T> make_request(const hs_sweep *sweep, const hs_geometry &geometry)
{
    const hs_network_view *view = sweep->op->network;
    const auto array = [](const void *member) { return (const T *)member; };
    const bool wrap = view->wrap[HS_X];
    return {star::make_request<T>(sweep, geometry),
            rows_of<T>(view),
            view->number,
            {array(view->conductance[HS_X]), array(view->conductance[HS_Y]),
             array(view->conductance[HS_Z])},
            array(view->rate),
            array(view->sink),
            array(view->added),
            {wrap || sweep->box.lo[HS_X] > 0,
             wrap || sweep->box.hi[HS_X] < sweep->layout.points[HS_X]}};
}

inline int dims_of(const hs_sweep *sweep)
{
    const int64_t *points = sweep->layout.points;
    return points[HS_Z] > 1 ? 3 : points[HS_Y] > 1 ? 2 : 1;
}

/* Calls run(form, T{}) for the sweep's form and precision. */
template <typename Run>
hs_status choose_form(const hs_sweep *sweep, Run run)
{
    const auto with_precision = [&](auto form) {
        return sweep->precision == HS_FLOAT ? run(form, float{}) : run(form, double{});
    };
    switch (sweep->op->network->form) {
    case HS_NETWORK_BYTES: return with_precision(palette<uint8_t>{});
    case HS_NETWORK_SHORTS: return with_precision(palette<uint16_t>{});
    default: return with_precision(arrays{});
    }
}

} // namespace network

#endif
