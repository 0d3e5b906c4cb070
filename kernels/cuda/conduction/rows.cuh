/*
 * Rows for kernels that take vectors of nodes: numbers as words, where rows are looked up, what of
 * them a lane keeps in registers, and the sums of a vector's nodes.
 */
#ifndef HS_KERNELS_CUDA_CONDUCTION_ROWS_CUH
#define HS_KERNELS_CUDA_CONDUCTION_ROWS_CUH

#include "network.cuh"

#include "plan.h"

#include <cmath>

namespace network
{

using star::vec;

/* The numbers of WIDTH nodes beside one another. */
template <typename NUMBER, int WIDTH>
struct word {
    enum : unsigned { BITS = 8 * sizeof(NUMBER), SIZE = WIDTH * sizeof(NUMBER) };
    using type = std::conditional_t<SIZE == 2, uint16_t,
                                    std::conditional_t<SIZE == 4, unsigned, unsigned long long>>;

    __device__ __forceinline__ static unsigned node(type numbers, int e)
    {
        return (NUMBER)(numbers >> BITS * e);
    }
    /* 0 for so many nodes at the end. */
    __device__ __forceinline__ static type without(type numbers, int nodes)
    {
        return (type)(numbers << BITS * nodes) >> BITS * nodes;
    }
};

/* Places in a row, after those of G along x, y and z. */
constexpr int RATE = 3, SINK = 4, KEEP = 5;

/*
 * Where rows are looked up, and for each of LEVELS sweeps what it adds. With numbers of one byte it
 * is a copy in shared memory, in which parts of 16 bytes lie apart, so that lanes that read
 * different rows seldom have bank conflicts; a row that has more than conductances and dt/C (the
 * rest) is marked by the sign of dt/C. With two bytes it is the palette itself, read through L1.
 */
template <typename T, typename NUMBER, int LEVELS>
class table
{
    enum { N = vec<T>::N, PARTS = (KEEP + (int)N) / N };

  public:
    static constexpr bool SHARED = sizeof(NUMBER) == 1;
    struct copied {
        vec<T> part[PARTS][HS_CONDUCTION_BYTE_ROWS];
        T added[LEVELS][HS_CONDUCTION_BYTE_ROWS];
    };
    struct nothing {
    };
    using memory = std::conditional_t<SHARED, copied, nothing>;

  private:
    const palette_rows<T> &of;
    const memory &shared;

    __device__ __forceinline__ vec<T> part(int place, unsigned n) const
    {
        if constexpr (SHARED)
            return shared.part[place / N][n];
        else
            return star::load(of.row + n * HS_ROW_NUMBERS + place / N * N);
    }

  public:
    __device__ __forceinline__ table(const palette_rows<T> &palette, const memory &copy)
        : of(palette), shared(copy)
    {
    }
    /* Every thread of the block copies its part, before __syncthreads(). */
    __device__ static void copy(const palette_rows<T> &of, memory &to, int thread, int threads)
    {
        if constexpr (SHARED)
            for (int n = thread; n < of.count; n += threads) {
                const T *const row = of.row + n * HS_ROW_NUMBERS;
                bool rest = row[SINK] != T(0) || row[KEEP] != T(1);
                for (int level = 0; level < LEVELS; level++) {
                    to.added[level][n] = of.forcing[level * of.count + n];
                    rest = rest || to.added[level][n] != T(0);
                }
                for (int i = 0; i < PARTS; i++)
                    to.part[i][n] = star::load(row + i * N);
                if (rest && n > 0)
                    to.part[RATE / N][n].at[RATE % N] = -row[RATE];
            }
    }
    __device__ __forceinline__ T conductance(int axis, unsigned n) const
    {
        if constexpr (SHARED)
            return shared.part[axis / N][n].at[axis % N];
        else
            return __ldg(of.row + n * HS_ROW_NUMBERS + axis);
    }
    /* Conductances along the axes, and dt/C; whether the row has any of the rest, for any level. */
    template <int DIMS>
    __device__ __forceinline__ bool get(unsigned n, T (&along)[DIMS], T *rate) const
    {
#pragma unroll
        for (int axis = 0; axis < DIMS; axis++)
            along[axis] = part(axis, n).at[axis % N];
        const T marked = part(RATE, n).at[RATE % N];
        *rate = std::fabs(marked);
        if constexpr (SHARED)
            return std::signbit(marked);
        T sink, keep, added, any = T(0);
#pragma unroll
        for (int level = 0; level < LEVELS; level++) {
            get_rest(level, n, &sink, &keep, &added);
            any = added != T(0) ? added : any;
        }
        return any != T(0) || sink != T(0) || (keep != T(1) && n > 0);
    }
    /* The rest: sink, keep and what is added. */
    __device__ __forceinline__ void get_rest(int level, unsigned n, T *sink, T *keep,
                                             T *added) const
    {
        const vec<T> two = part(SINK, n);
        *sink = two.at[SINK % N];
        *keep = two.at[KEEP % N];
        if constexpr (SHARED)
            *added = shared.added[level][n];
        else
            *added = __ldg(of.forcing + level * of.count + n);
    }
};

/*
 * What a lane keeps of rows: of its nodes G of the edges to the next ones and dt/C; and G of the
 * edges to them from the node before along x and, in 3D, from those before along y. The rest,
 * sinks, sources and nodes that do not keep their value, is looked up where any lane of the warp
 * needs it.
 */
template <int DIMS, typename T>
struct lane_rows {
    enum { N = vec<T>::N, MARCH = DIMS - 1 };
    T conductance[N][DIMS], rate[N], beside, below[N];

    /*
     * Sums over edges, of nodes `now` between left and right ones, those `after` along y and those
     * `next` along the slowest axis. `rise` is the difference along y from the nodes before, and
     * becomes that to those after. `flow`, G times the difference from the plane before, is where
     * sums begin, and becomes that to the next plane.
     */
    __device__ __forceinline__ vec<T> sum(const vec<T> &now, T left, T right, const vec<T> &after,
                                          const vec<T> &next, vec<T> &rise, vec<T> &flow) const
    {
        vec<T> sums;
        T along_x = now.at[0] - left;
#pragma unroll
        for (int e = 0; e < N; e++) {
            const T here = now.at[e], up = next.at[e] - here;
            T acc = -flow.at[e];
            if (DIMS == 3)
                acc = star::fused(below[e], -rise.at[e], acc);
            acc = star::fused(e > 0 ? conductance[e > 0 ? e - 1 : 0][HS_X] : beside, -along_x, acc);
            along_x = (e + 1 < N ? now.at[(e + 1) % N] : right) - here;
            acc = star::fused(conductance[e][HS_X], along_x, acc);
            if (DIMS == 3) {
                rise.at[e] = after.at[e] - here;
                acc = star::fused(conductance[e][HS_Y], rise.at[e], acc);
            }
            sums.at[e] = star::fused(conductance[e][MARCH], up, acc);
            flow.at[e] = conductance[e][MARCH] * up;
        }
        return sums;
    }
    /* What the nodes become; get_rest(e, &sink, &keep, &added) is called where `rest` is true. */
    template <typename Rest>
    __device__ __forceinline__ vec<T> advanced(const vec<T> &now, vec<T> sums, bool rest,
                                               Rest get_rest, const T *source) const
    {
        vec<T> kept;
        if (rest) {
#pragma unroll
            for (int e = 0; e < N; e++) {
                T sink, keep, added;
                get_rest(e, &sink, &keep, &added);
                sums.at[e] = star::fused(-sink, now.at[e], sums.at[e]);
                kept.at[e] = star::fused(keep, now.at[e], added);
            }
        } else {
#pragma unroll
            for (int e = 0; e < N; e++)
                kept.at[e] = now.at[e] + T(0); /* 0 of -0, as by the multiply-add */
        }
        if (source) {
            const vec<T> more = star::load(source);
#pragma unroll
            for (int e = 0; e < N; e++)
                kept.at[e] += more.at[e];
        }
#pragma unroll
        for (int e = 0; e < N; e++)
            kept.at[e] = star::fused(rate[e], sums.at[e], kept.at[e]);
        return kept;
    }
};

} // namespace network

#endif
