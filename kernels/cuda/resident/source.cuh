/*
 * What each sweep of `resident` adds: a number of its own, or a constant field, which is read once
 * per launch and then stays on the chip beside the grid.
 *
 * Threads with few vectors keep their part of the field in registers. Threads with many keep as
 * much as fits in registers, and the rest in shared memory, after the tiles.
 */
#ifndef HS_KERNELS_CUDA_RESIDENT_SOURCE_CUH
#define HS_KERNELS_CUDA_RESIDENT_SOURCE_CUH

#include "block.cuh"

namespace resident
{

/* Both have load(), called once per launch, and begin(), whose at(k, r) is what a sweep adds to the
 * r-th vector of plane k. */
template <typename Block>
struct number_added {
    using T = typename Block::number;
    using values = typename Block::values;
    enum { IN_MEMORY = false };

    struct of_sweep {
        T value;
        __device__ __forceinline__ values at(int, int) const
        {
            values v;
#pragma unroll
            for (int e = 0; e < Block::WIDTH; e++)
                v.v[e] = value;
            return v;
        }
    };

    __device__ __forceinline__ explicit number_added(const Block &)
    {
    }
    __device__ __forceinline__ void load(const Block &)
    {
    }
    __device__ __forceinline__ of_sweep begin(const Block &, const T *level) const
    {
        return {level[0]};
    }
};

/* Reads the field at a thread's vectors; zero where there is no node. */
template <typename Block>
struct source_reader {
    using T = typename Block::number;
    using values = typename Block::values;
    enum { WIDTH = Block::WIDTH };

    const Block &b;
    const typename Block::place f;

    __device__ __forceinline__ explicit source_reader(const Block &of) : b(of), f(of.find())
    {
    }
    __device__ __forceinline__ values read(int k, int r) const
    {
        values v{};
        const arguments<T> &p = b.p;
        const int x = f.node[ALONG], y = b.node_at(ROW, f.node[ROW] + r);
        const int z = b.node_at(PLANE, f.node[PLANE] + k);
        if (y < 0 || z < 0)
            return v;
        const T *const row = p.source + z * p.pitch[PLANE] + y * p.pitch[ROW];
        if (x >= 0 && x + WIDTH <= p.n[ALONG])
            return *(const values *)(row + x);
#pragma unroll
        for (int e = 0; e < WIDTH; e++) {
            const int at = b.node_at(ALONG, x + e);
            v.v[e] = at >= 0 ? row[at] : (T)0;
        }
        return v;
    }
};

template <typename Block>
struct field_added {
    using T = typename Block::number;
    using values = typename Block::values;
    enum {
        WIDTH = Block::WIDTH,
        ROWS = Block::ROWS,
        PLANES = Block::PLANES,
        HELD = hs_resident_source_held(Block::VECTORS), /* the first ones, in registers */
        IN_MEMORY = HELD < Block::VECTORS
    };

    values held[HELD];
    T *first; /* the thread's places for the others, `next` elements apart */
    int next;

    struct of_sweep {
        const field_added &field;
        __device__ __forceinline__ values at(int k, int r) const
        {
            const int n = k * ROWS + r;
            if (n < HELD)
                return field.held[n % HELD];
            /* Each is fetched where it is needed: the compiler would rather fetch all at the
             * sweep's beginning, and has too few registers for that. */
            __syncwarp();
            return *(const values *)(field.first + (n - HELD) * field.next);
        }
    };

    /* Call it before the block's tiles are first swapped. */
    __device__ __forceinline__ explicit field_added(const Block &b)
        : first(b.tile + 2 * b.other + b.thread * WIDTH), next((int)blockDim.x * WIDTH)
    {
    }
    __device__ __forceinline__ void load(const Block &b)
    {
        const source_reader<Block> reader(b);
#pragma unroll
        for (int k = 0; k < PLANES; k++)
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                const int n = k * ROWS + r;
                if (n < HELD)
                    held[n % HELD] = reader.read(k, r);
                else
                    *(values *)(first + (n - HELD) * next) = reader.read(k, r);
            }
    }
    __device__ __forceinline__ of_sweep begin(const Block &, const T *) const
    {
        return {*this};
    }
};

template <typename Block, bool FIELD>
using added_of = std::conditional_t<FIELD, field_added<Block>, number_added<Block>>;

} // namespace resident

#endif
