/*
 * Rows for kernels that take vectors of nodes: numbers as words, the lookup of rows, what a lane
 * keeps of them in registers, and the sums of a vector's nodes.
 */
#ifndef HS_KERNELS_CUDA_CONDUCTION_ROWS_CUH
#define HS_KERNELS_CUDA_CONDUCTION_ROWS_CUH

#include "network.cuh"

#include "plan.h"

#include <cmath>

namespace network
{

using star::vec;

/* The numbers of WIDTH adjacent nodes. */
template <typename NUMBER, int WIDTH>
struct word {
    enum : unsigned { BITS = 8 * sizeof(NUMBER), SIZE = WIDTH * sizeof(NUMBER) };
    using type = std::conditional_t<SIZE == 2, uint16_t,
                                    std::conditional_t<SIZE == 4, unsigned, unsigned long long>>;

    __device__ __forceinline__ static unsigned node(type numbers, int e)
    {
        return (NUMBER)(numbers >> BITS * e);
    }
    /* With 0 for the last `nodes` nodes. */
    __device__ __forceinline__ static type without(type numbers, int nodes)
    {
        return (type)(numbers << BITS * nodes) >> BITS * nodes;
    }
};

/* Indices in a row, after those of G along x, y and z. */
constexpr int RATE = 3, SINK = 4, KEEP = 5;

/*
 * The lookup of rows, for LEVELS sweeps. G and dt/C of the first ROWS rows are copied to shared
 * memory, in separate arrays of 16-byte parts, so that lanes that read different rows seldom have
 * bank conflicts. A row with more members (the rest) is marked there by the sign of dt/C. All else
 * is read from the palette through L1. ROWS is a power of two, or 0. All lanes of the warp look up
 * a vector's rows together.
 */
template <typename T, typename NUMBER, int LEVELS, int ROWS>
class table
{
    using word = network::word<NUMBER, vec<T>::WIDTH>;
    using numbers = typename word::type;
    enum { N = vec<T>::WIDTH, PARTS = (RATE + (int)N) / N, ALL = ROWS > (NUMBER)-1 };
    static_assert((ROWS & (ROWS - 1)) == 0);

  public:
    struct memory {
        vec<T> part[PARTS][ROWS > 0 ? ROWS : 1];
    };

  private:
    const palette_rows<T> &of;
    const memory &shared;

    /* Numbers of nodes beyond the grid may have any value. */
    __device__ __forceinline__ const T *row(unsigned n) const
    {
        return of.row + min(n, (unsigned)of.count - 1u) * HS_ROW_NUMBERS;
    }
    /* Whether a vector's rows are in shared memory, for all lanes of the warp. */
    __device__ __forceinline__ static bool are_copied(numbers all)
    {
        if (ALL || ROWS == 0)
            return ALL;
        constexpr numbers of_each = (numbers)-1 / (NUMBER)-1; /* 1 in each number */
        return __all_sync(0xffffffffu, (all & (NUMBER) ~(ROWS - 1) * of_each) == 0);
    }
    /* G along the axes and dt/C from the parts. */
    template <int DIMS, typename Part>
    __device__ __forceinline__ static void take(T (&along)[DIMS], T *rate, Part part)
    {
#pragma unroll
        for (int axis = 0; axis < DIMS; axis++)
            along[axis] = part(axis / N).v[axis % N];
        *rate = part(RATE / N).v[RATE % N];
    }
    __device__ __forceinline__ bool has_rest(unsigned n) const
    {
        T sink, keep, added, any = T(0);
#pragma unroll
        for (int level = 0; level < LEVELS; level++) {
            get_rest(level, n, &sink, &keep, &added);
            any = added != T(0) ? added : any;
        }
        return any != T(0) || sink != T(0) || (keep != T(1) && n > 0);
    }

  public:
    __device__ __forceinline__ table(const palette_rows<T> &palette, const memory &copy)
        : of(palette), shared(copy)
    {
    }
    /* Every thread of the block copies its part, before __syncthreads(). */
    __device__ static void copy(const palette_rows<T> &of, memory &to, int thread, int threads)
    {
        for (int n = thread; n < of.count && n < ROWS; n += threads) {
            const T *const row = of.row + n * HS_ROW_NUMBERS;
            bool rest = row[SINK] != T(0) || row[KEEP] != T(1);
            for (int level = 0; level < LEVELS; level++)
                rest = rest || of.forcing[level * of.count + n] != T(0);
            for (int i = 0; i < PARTS; i++)
                to.part[i][n] = star::load(row + i * N);
            if (rest && n > 0)
                to.part[RATE / N][n].v[RATE % N] = -row[RATE];
        }
    }
    /* G along an axis, of one node or of a vector of them. */
    __device__ __forceinline__ T conductance(int axis, unsigned n) const
    {
        if (ROWS > 0 && (ALL || (int)n < ROWS))
            return shared.part[axis / N][n].v[axis % N];
        return __ldg(row(n) + axis);
    }
    __device__ __forceinline__ void conductances(int axis, numbers all, T (&g)[N]) const
    {
        if (are_copied(all))
#pragma unroll
            for (int e = 0; e < N; e++)
                g[e] = shared.part[axis / N][word::node(all, e)].v[axis % N];
        else
#pragma unroll
            for (int e = 0; e < N; e++)
                g[e] = __ldg(row(word::node(all, e)) + axis);
    }
    /* G along the axes and dt/C of a vector's nodes. Returns a bit for each node whose row may have
     * any of the rest, at any level. */
    template <int DIMS>
    __device__ __forceinline__ unsigned get(numbers all, T (&along)[N][DIMS], T (&rate)[N]) const
    {
        unsigned more = 0;
        if (are_copied(all)) {
#pragma unroll
            for (int e = 0; e < N; e++) {
                const unsigned n = word::node(all, e);
                take(along[e], &rate[e], [&](int i) { return shared.part[i][n]; });
                more |= std::signbit(rate[e]) ? 1u << e : 0u;
                rate[e] = std::fabs(rate[e]);
            }
            return more;
        }
#pragma unroll
        for (int e = 0; e < N; e++) {
            const unsigned n = word::node(all, e);
            take(along[e], &rate[e], [&](int i) { return star::load(row(n) + i * N); });
            /* such rows are few if there is a copy: checking would cost more than adding nothing */
            more |= ROWS > 0 || has_rest(n) ? 1u << e : 0u;
        }
        return more;
    }
    /* The rest: sink, keep and the added value. */
    __device__ __forceinline__ void get_rest(int level, unsigned n, T *sink, T *keep,
                                             T *added) const
    {
        const vec<T> two = star::load(row(n) + SINK);
        *sink = two.v[0];
        *keep = two.v[KEEP - SINK];
        *added = __ldg(of.forcing + level * of.count + min(n, (unsigned)of.count - 1u));
    }
};

/*
 * What a lane keeps of rows: for its nodes, dt/C and G of the edges to the next nodes; and G of the
 * edges from the node before along x and, in 3D, from the nodes before along y. The rest (sinks,
 * sources and nodes that do not keep their value) is looked up if any lane of the warp needs it.
 */
template <int DIMS, typename T>
struct lane_rows {
    enum { N = vec<T>::WIDTH, MARCH = DIMS - 1 };
    T conductance[N][DIMS], rate[N], beside, below[N];

    /*
     * Sums over edges for nodes `now` between `left` and `right`, with `after` along y and `next`
     * along the slowest axis. `rise` is the difference along y from the nodes before, and is
     * updated to that to the nodes after. `flow`, G times the difference from the plane before,
     * starts the sums, and is updated to that to the next plane.
     */
    __device__ __forceinline__ vec<T> sum(const vec<T> &now, T left, T right, const vec<T> &after,
                                          const vec<T> &next, vec<T> &rise, vec<T> &flow) const
    {
        vec<T> sums;
        T along_x = now.v[0] - left;
#pragma unroll
        for (int e = 0; e < N; e++) {
            const T here = now.v[e], up = next.v[e] - here;
            T acc = -flow.v[e];
            if (DIMS == 3)
                acc = star::fused(below[e], -rise.v[e], acc);
            acc = star::fused(e > 0 ? conductance[e > 0 ? e - 1 : 0][HS_X] : beside, -along_x, acc);
            along_x = (e + 1 < N ? now.v[(e + 1) % N] : right) - here;
            acc = star::fused(conductance[e][HS_X], along_x, acc);
            if (DIMS == 3) {
                rise.v[e] = after.v[e] - here;
                acc = star::fused(conductance[e][HS_Y], rise.v[e], acc);
            }
            sums.v[e] = star::fused(conductance[e][MARCH], up, acc);
            flow.v[e] = conductance[e][MARCH] * up;
        }
        return sums;
    }
    /* The nodes' new values; get_rest(e, &sink, &keep, &added) is called if `rest` is true. */
    template <typename Rest>
    __device__ __forceinline__ vec<T> advanced(const vec<T> &now, vec<T> sums, bool rest,
                                               Rest get_rest, const T *source) const
    {
        vec<T> kept = now; /* as the multiply-add would give, except for -0 */
        if (rest) {
#pragma unroll
            for (int e = 0; e < N; e++) {
                T sink, keep, added;
                get_rest(e, &sink, &keep, &added);
                sums.v[e] = star::fused(-sink, now.v[e], sums.v[e]);
                kept.v[e] = star::fused(keep, now.v[e], added);
            }
        }
        if (source) {
            const vec<T> more = star::load(source);
#pragma unroll
            for (int e = 0; e < N; e++)
                kept.v[e] += more.v[e];
        }
#pragma unroll
        for (int e = 0; e < N; e++)
            kept.v[e] = star::fused(rate[e], sums.v[e], kept.v[e]);
        return kept;
    }
};

} // namespace network

#endif
