/*
 * vector_march: the plain march along the slowest axis, done as fast as memory allows.
 *
 * One sweep per launch must read and write every point once: 2 words. All else must come from
 * registers, neighbouring lanes and the L1 cache, and enough loads must be in flight at any time.
 *
 *        y  lane 0  lane 1        lane 31      a warp owns ROWS rows of 32 vectors of 16 bytes;
 *        |  [....]  [....]  ...  [....]        warps of a block lie above one another along y
 *        |  [....]  [....]  ...  [....]
 *        +------------------------------ x     it marches along z: the planes z-R .. z+R of its own
 *                                              rows stand in registers, and the AHEAD planes after
 *                                              them are on their way there
 *
 *   z neighbours   registers
 *   x neighbours   the vector itself, or adjacent lanes by shuffle; the warp's first and last lanes
 *                  load the vector outside the warp if a point of the box needs it
 *   y neighbours   the thread's own other rows, else a load that the L1 cache serves: the warp
 *                  above or below loaded that row when it was a plane ahead
 *
 * No shared memory and no barrier: warps drift apart freely, so that some are always loading.
 * Stores are marked as not needed again, so that L2 keeps the planes that neighbouring blocks
 * share. A block marches through a chunk of planes: a short one in 3D, so that blocks that run at
 * the same time are near each other and find in L2 what their neighbours loaded. In 2D chunks are
 * as long as possible while the blocks fill whole waves of the device.
 *
 * In 2D the march is along y, each warp on its own. In 1D there is no march: a thread has several
 * independent vectors in flight at once.
 *
 * Words per point: 1 + 2R/planes loaded from memory, 1 written; from L1 2R/ROWS more in 3D.
 *
 * Any nx: rows begin at multiples of 128 bytes, loads are whole vectors (a row's padding is
 * allocated). At the box's two ends groups of 32 bytes are stored whole if the caller allows it
 * (may_copy), else point by point.
 *
 * Reaches 0.84 (float) and 0.79 (double) of the copy's bandwidth at 512^3 on an H200; what limits
 * it: docs/performance/one-sweep.md.
 *
 * Source: register queue along z: Micikevicius, GPGPU-2 (2009); vectors with shuffles: Rawat et
 * al., Register optimizations for stencils on GPUs, PPoPP'18.
 */
#include "vector.cuh"

#include "plan.h"

namespace
{

using star::load;
using star::store;
using star::vec;

enum { WARP = HS_WARP };
const unsigned ALL = 0xffffffffu;

/* A vector with the R points on both sides of it. */
template <int R, typename T>
struct row {
    T v[vec<T>::WIDTH + 2 * R];
};

/*
 * Gets the points on both sides from adjacent lanes. In the first H lanes `outer` is the vector H
 * lanes to the left of their own, in the last H lanes the one H lanes to the right. All 32 lanes
 * call it.
 */
template <int R, typename T>
__device__ __forceinline__ row<R, T> widen(const vec<T> &own, const vec<T> &outer, int lane)
{
    enum { N = vec<T>::WIDTH, H = (R + N - 1) / N }; /* H: lanes that the radius spans */
    row<R, T> wide;
#pragma unroll
    for (int n = 0; n < N; n++)
        wide.v[R + n] = own.v[n];
#pragma unroll
    for (int o = 1; o <= R; o++) {
        const int lanes = (o + N - 1) / N; /* its distance in lanes, 1..H */
        const int left = lanes * N - o;    /* index in that vector */
        const int right = o - 1 - (lanes - 1) * N;
        T l = __shfl_up_sync(ALL, own.v[left], lanes);
        T r = __shfl_down_sync(ALL, own.v[right], lanes);
        /* lane L - lanes + H holds lane L's neighbour vector L - lanes < 0 */
        T l_outer = outer.v[left], r_outer = outer.v[right];
        if (H > 1) {
            l_outer = __shfl_down_sync(ALL, l_outer, H - lanes);
            r_outer = __shfl_up_sync(ALL, r_outer, H - lanes);
        }
        wide.v[R - o] = lane < lanes ? l_outer : l;
        wide.v[R + N - 1 + o] = lane >= WARP - lanes ? r_outer : r;
    }
    return wide;
}

/* A lane's work along x, the same in every row. */
template <int R, typename T>
struct lane_x {
    enum { N = vec<T>::WIDTH, H = (R + N - 1) / N, GROUP = 32 / sizeof(T) };
    int lane;
    int64_t x;       /* of the lane's first point */
    int64_t x_load;  /* where the lane loads: x, or the last vector that is needed */
    int64_t x_outer; /* position of the outer vector */
    bool outer;      /* whether this lane loads one */
    int first, end;  /* points of the vector that are in the box */
    bool fill;       /* the vector is stored whole, with old values outside the box */

    __device__ __forceinline__ lane_x(const star::request<T> &r, int64_t x_warp, int lane_)
        : lane(lane_), x(x_warp + (int64_t)lane_ * N)
    {
        const int64_t lo = r.lo[HS_X], hi = r.hi[HS_X];
        int64_t last = (hi - 1 + R) / N * N; /* the last vector with a point that is needed */
        if (r.may_copy && last < (hi - 1) / GROUP * GROUP + GROUP - N)
            last = (hi - 1) / GROUP * GROUP + GROUP - N;
        x_load = x < last ? x : last;
        const int64_t x_end = x_warp + WARP * N;
        const bool left = lane < H, right = lane >= WARP - H;
        x_outer = left ? x - H * N : x + H * N;
        outer = (left && lo < x_warp + R && hi > x_warp) ||
                (right && x_outer <= last && hi > x_end - R);
        first = (int)(lo > x ? (lo - x < N ? lo - x : N) : 0);
        end = (int)(hi - x < N ? (hi > x ? hi - x : 0) : N);
        const int64_t group = x / GROUP * GROUP; /* x >= 0 */
        fill = r.may_copy && group + GROUP > lo && group < hi;
    }

    __device__ __forceinline__ vec<T> load_outer(const T *row_start) const
    {
        vec<T> v = {};
        if (outer)
            v = load(row_start + x_outer);
        return v;
    }

    __device__ __forceinline__ vec<T> load_source(const star::request<T> &r, int64_t at) const
    {
        vec<T> v;
#pragma unroll
        for (int n = 0; n < N; n++)
            v.v[n] = r.source_value;
        if (r.source && first < end)
            v = load(r.source + at);
        return v;
    }

    /* `before` has the input's values. */
    __device__ __forceinline__ void store_row(T *to, vec<T> v, const vec<T> &before) const
    {
        if (fill || (first == 0 && end == N)) {
#pragma unroll
            for (int n = 0; n < N; n++)
                v.v[n] = n >= first && n < end ? v.v[n] : before.v[n];
            store(to, v);
            return;
        }
#pragma unroll
        for (int n = 0; n < N; n++)
            if (n >= first && n < end)
                to[n] = v.v[n];
    }
};

/* ---- 2D and 3D ------------------------------------------------------------------------------ */

template <int DIMS, int R, typename T, bool RECURSION>
class marcher
{
  public:
    enum { ROWS = hs_vector_rows(DIMS, R) };

  private:
    enum { N = vec<T>::WIDTH };
    enum { AHEAD = DIMS == 3 ? 1 : R == 3 ? 2 : 3 }; /* planes in flight */
    enum { QUEUE = 2 * R + 1 + AHEAD };
    enum { MARCH = DIMS - 1 }; /* the marching axis */

    const star::request<T> &r;
    const lane_x<R, T> along_x;
    const int64_t y_first; /* this warp's rows */
    const int64_t pitch;   /* along the marching axis */

    /* planes z-R .. z+R and those in flight: a ring, plane z+p in [(z - first + R + p) % QUEUE] */
    vec<T> queue[ROWS][QUEUE];

    /*
     * Loads row n relative to this warp's first, -R <= n < ROWS+R. If the box's last rows do not
     * fill the warp's, the rows beyond are loaded and not used: the warp's own ones are ghosts, and
     * its neighbours' lie at worst in the next plane, which is allocated.
     */
    static_assert(ROWS - 1 <= R, "a warp's rows may reach into the ghosts, not beyond them");

    __device__ __forceinline__ vec<T> load_row(const T *plane, int n) const
    {
        return load(plane + along_x.x_load + n * r.pitch_y);
    }

    /* Sums the plane at index `centre` of the ring, a constant once unrolled; `plane` is the warp's
     * first row of it. */
    __device__ __forceinline__ void sum_plane(const T *plane, int centre)
    {
        vec<T> below[R], above[R]; /* rows -R..-1 and ROWS..ROWS+R-1 */
        if (DIMS == 3) {
#pragma unroll
            for (int o = 0; o < R; o++) {
                below[o] = load_row(plane, o - R);
                above[o] = load_row(plane, ROWS + o);
            }
        }
#pragma unroll
        for (int n = 0; n < ROWS; n++) {
            const vec<T> outer = along_x.load_outer(plane + n * r.pitch_y);
            const row<R, T> wide = widen<R>(queue[n][centre], outer, along_x.lane);
            if (DIMS == 3 && y_first + n >= r.hi[HS_Y])
                continue; /* the same for the whole warp */
            const int64_t at = along_x.x + (plane - r.in) + n * r.pitch_y;
            vec<T> sum = along_x.load_source(r, at);
#pragma unroll
            for (int e = 0; e < N; e++)
                sum.v[e] = star::sum<DIMS, R>(r.c, sum.v[e], [&](int axis, int o) -> T {
                    if (axis == HS_X)
                        return wide.v[R + e + o];
                    if (axis == MARCH)
                        return queue[n][(centre + o + QUEUE) % QUEUE].v[e];
                    const int m = n + o; /* along y in 3D */
                    return m < 0       ? below[m < -R || m >= 0 ? 0 : m + R].v[e]
                           : m >= ROWS ? above[m < ROWS || m >= ROWS + R ? 0 : m - ROWS].v[e]
                                       : queue[m < 0 || m >= ROWS ? 0 : m][centre].v[e];
                });
            if (RECURSION)
                star::advance(r, along_x.first < along_x.end, at, sum);
            along_x.store_row(r.out + at, sum, queue[n][centre]);
        }
    }

  public:
    __device__ __forceinline__ marcher(const star::request<T> &request, int64_t x_warp, int64_t y)
        : r(request), along_x(request, x_warp, threadIdx.x), y_first(y),
          pitch(DIMS == 3 ? request.pitch_z : request.pitch_y)
    {
    }

    /* Planes first <= z < end. The loop is unrolled by the length of the ring, so that the ring's
     * slots are registers: moving a value in flight would mean waiting for it. */
    __device__ __forceinline__ void march(int64_t first, int64_t end)
    {
        const T *plane = r.in + first * pitch + (DIMS == 3 ? y_first * r.pitch_y : 0);
#pragma unroll
        for (int p = 0; p < QUEUE - 1; p++)
            if (first - R + p < end + R) {
#pragma unroll
                for (int n = 0; n < ROWS; n++)
                    queue[n][p] = load_row(plane + (p - R) * pitch, n);
            }
        for (int64_t z = first; z < end;) {
#pragma unroll
            for (int turn = 0; turn < QUEUE; turn++) {
                if (z + AHEAD < end) {
#pragma unroll
                    for (int n = 0; n < ROWS; n++) /* plane z + R + AHEAD, in the oldest's slot */
                        queue[n][(turn + QUEUE - 1) % QUEUE] =
                            load_row(plane + (R + AHEAD) * pitch, n);
                }
                sum_plane(plane, (turn + R) % QUEUE);
                plane += pitch;
                z++;
                if (z >= end)
                    break;
            }
        }
    }
};

/* One block less where the compiler would otherwise spill a few bytes: on compute capability 10,
 * and in a recursion. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ / 100 == 10
enum { FEWER_BLOCKS = 1 };
#else
enum { FEWER_BLOCKS = 0 };
#endif

template <int DIMS, int R, typename T, bool RECURSION>
__global__ void __launch_bounds__(WARP *HS_VECTOR_WARPS,
                                  hs_vector_blocks(DIMS, R) - (RECURSION ? 1 : (int)FEWER_BLOCKS))
    vector_march(const __grid_constant__ star::request<T> r, int planes)
{
    enum { MARCH = DIMS - 1, SPAN = WARP * vec<T>::WIDTH };
    using warp = marcher<DIMS, R, T, RECURSION>;
    const star::tile_index block = star::this_tile(r);
    /* a block's warps lie one above the other along y; in 2D side by side along x */
    const int64_t column = DIMS == 3 ? block.x : block.x * HS_VECTOR_WARPS + threadIdx.y;
    const int64_t x_warp = r.lo[HS_X] / vec<T>::LINE * vec<T>::LINE + column * SPAN;
    const int64_t y_first =
        DIMS == 3 ? r.lo[HS_Y] + (block.y * HS_VECTOR_WARPS + threadIdx.y) * warp::ROWS : 0;
    const int64_t first = r.lo[MARCH] + (DIMS == 3 ? block.z : block.y) * planes;
    const int64_t end = first + planes < r.hi[MARCH] ? first + planes : r.hi[MARCH];
    if (x_warp >= r.hi[HS_X] || (DIMS == 3 && y_first >= r.hi[HS_Y]))
        return; /* nothing to do for the whole warp */
    warp(r, x_warp, y_first).march(first, end);
}

/* ---- 1D ------------------------------------------------------------------------------------- */

template <int R, typename T>
__global__ void __launch_bounds__(HS_VECTOR_1D_THREADS)
    vector_line(const __grid_constant__ star::request<T> r)
{
    enum { N = vec<T>::WIDTH, VECTORS = HS_VECTOR_1D_VECTORS };
    const int lane = threadIdx.x % WARP;
    const int64_t x_origin = r.lo[HS_X] / vec<T>::LINE * vec<T>::LINE;
    const int64_t warp = (int64_t)blockIdx.x * (HS_VECTOR_1D_THREADS / WARP) + threadIdx.x / WARP;
    const int64_t x_warp = x_origin + warp * VECTORS * WARP * N;

    vec<T> own[VECTORS], outer[VECTORS];
#pragma unroll
    for (int v = 0; v < VECTORS; v++) {
        const lane_x<R, T> along_x(r, x_warp + v * WARP * N, lane);
        own[v] = load(r.in + along_x.x_load);
        outer[v] = along_x.load_outer(r.in);
    }
#pragma unroll
    for (int v = 0; v < VECTORS; v++) {
        const lane_x<R, T> along_x(r, x_warp + v * WARP * N, lane);
        const row<R, T> wide = widen<R>(own[v], outer[v], lane);
        vec<T> sum = along_x.load_source(r, along_x.x);
#pragma unroll
        for (int e = 0; e < N; e++)
            sum.v[e] =
                star::sum<1, R>(r.c, sum.v[e], [&](int, int o) -> T { return wide.v[R + e + o]; });
        star::advance(r, along_x.first < along_x.end, along_x.x, sum);
        along_x.store_row(r.out + along_x.x, sum, own[v]);
    }
}

/* --------------------------------------------------------------------------------------------- */

} // namespace

HS_CUDA_SWEEP(vector_march)
{
    const hs_geometry &shape = plan->launch;
    return star::choose<1, 3, 3>(sweep, err, [&](auto dims, auto radius, auto zero) {
        using T = decltype(zero);
        const star::request<T> r = star::make_request<T>(sweep, shape);
        if constexpr (dims.value == 1)
            return star::launch("vector_march", vector_line<radius.value, T>, r, shape,
                                sweep->stream, err);
        else
            return star::launch("vector_march",
                                r.before ? vector_march<dims.value, radius.value, T, true>
                                         : vector_march<dims.value, radius.value, T, false>,
                                r, shape, sweep->stream, err, shape.output_tile[dims.value - 1]);
    });
}
