/*
 * What a fused march copies to shared memory (march.cuh): planes of level 0 and of the source, some
 * steps before they are needed, and the source's tables. A thread copies its own points.
 */
#ifndef HS_KERNELS_CUDA_FUSED_MARCH_3D_COPIES_CUH
#define HS_KERNELS_CUDA_FUSED_MARCH_3D_COPIES_CUH

#include "tile.cuh"

#include "core/cuda_asynchronous.cuh"

namespace fused_march
{

template <typename Sizes>
struct copies : place<Sizes> {
    using base = place<Sizes>;
    using base::AHEAD, base::NODES_Z, base::PARTS, base::SLOT, base::SOURCES;
    using base::at_row, base::before_wrap, base::in_slot, base::p, base::shared, base::source_row,
        base::split;
    using base::LANES, base::LEVELS, base::ROWS, base::WIDTH, base::THREADS;
    using base::SOURCE, base::TABLES, base::ANY_WAY;
    using typename base::T, typename base::vector;

    int first_line; /* the first node along z in shared.line */

    using base::base;

    /* This thread's first row in a slot of the queue. */
    __device__ vector *mine(unsigned slot) const
    {
        return (vector *)((char *)shared.queue + slot) + in_slot;
    }
    /* The same in a slot of the source's planes. */
    __device__ vector *source_at(unsigned slot) const
    {
        return (vector *)((char *)shared.source + slot) + in_slot;
    }

    /* ---- planes ---------------------------------------------------------------------------- */

    __device__ void fetch_rows(const T *from, const unsigned *row, vector *to)
    {
        if (!split) {
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                __pipeline_memcpy_async(to + r * LANES, offset_by(from, row[r]), 16);
        } else {
#pragma unroll
            for (int r = 0; r < ROWS; r++)
#pragma unroll
                for (int e = 0; e < WIDTH; e++)
                    __pipeline_memcpy_async(
                        &to[r * LANES].v[e],
                        offset_by(from, row[r]) + (e < before_wrap ? e : e - p.nx), sizeof(T));
        }
    }
    __device__ int plane_at(int z) const
    {
        if (!p.wrap[2])
            return z;
        return z < 0 ? z + p.nz : z >= p.nz ? z - p.nz : z;
    }
    /* Fetches plane z of level 0. */
    __device__ void fetch(int z, unsigned slot)
    {
        const int at = plane_at(z);
        if (at >= 0 && at < p.nz)
            fetch_rows(p.in + at * p.pitch_z, at_row, mine(slot));
    }

    /* ---- the source's fields ----------------------------------------------------------------- */

    __device__ source_way way() const
    {
        if constexpr (ANY_WAY)
            return p.source.way;
        else
            return {1, AHEAD - 1, AHEAD * SLOT, SOURCES * SLOT, SLOT};
    }
    __device__ unsigned turned(unsigned slot) const
    {
        return slot >= way().turn ? slot - way().turn : slot;
    }
    /* Fetches plane z of level l's source; beyond the grid, where it is not used, any plane. */
    __device__ void fetch_source(int z, int l, unsigned slot)
    {
        const int at = min(max(plane_at(z), 0), p.nz - 1);
        fetch_rows(p.source.field[l] + at * p.source.pitch_z, ANY_WAY ? source_row : at_row,
                   source_at(slot));
    }
    /* Those of all levels: planes z, z-1, ... */
    __device__ void fetch_sources(int z, unsigned slot)
    {
#pragma unroll 1
        for (int l = 0; l < LEVELS; l++)
            fetch_source(z - l, l, slot - l * SLOT);
    }
    /* The planes of the source that come during step z. */
    __device__ void fetch_source(int z, unsigned slot)
    {
        if (!SOURCE || TABLES || way().planes == 0)
            return;
        const int newest = z + way().lead;
        const unsigned to = turned(slot + way().apart);
        if (way().planes == 1)
            fetch_source(newest, 0, to);
        else
            fetch_sources(newest, to);
    }

    /* ---- its tables -------------------------------------------------------------------------- */

    /* The tables' lines for all steps from z on. Call it before start(), which waits for all
     * threads. */
    __device__ void fetch_lines(int z)
    {
        first_line = z - LEVELS;
#pragma unroll 1
        for (int i = threadIdx.x; i < LEVELS * NODES_Z; i += THREADS) {
            const int z_at = image(first_line + i % NODES_Z, p.nz, p.wrap[2]);
            const hs_source_line from = p.tables.line[i / NODES_Z][z_at];
            shared.line[i / NODES_Z][i % NODES_Z] = {{from.column, from.offset}};
        }
    }
    /* The tables' planes of all levels. */
    __device__ void fetch_tables()
    {
#pragma unroll 1
        for (int l = 0; l < LEVELS; l++)
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                const double *const from = offset_by(p.tables.plane[l], source_row[r]);
#pragma unroll
                for (int part = 0; part < PARTS; part++) {
                    vector *const to = source_at((l * PARTS + part) * SLOT) + r * LANES;
                    const int e = 2 * part, wrap = -p.nx;
                    if (!split) {
                        __pipeline_memcpy_async(to, from + e, 16);
                    } else {
                        double *const two = (double *)to;
                        __pipeline_memcpy_async(two, from + e + (e < before_wrap ? 0 : wrap), 8);
                        __pipeline_memcpy_async(two + 1,
                                                from + e + 1 + (e + 1 < before_wrap ? 0 : wrap), 8);
                    }
                }
            }
    }
    /* This thread's row r of level l's source; `at` has the numbers of the plane of nodes. */
    __device__ vector from_tables(int l, int r, const star::vec<double> &at) const
    {
        vector made;
        if (sizeof(T) == 8) /* row after row: read ahead, they would spill on 10.0 */
            asm volatile("" ::: "memory");
#pragma unroll
        for (int part = 0; part < PARTS; part++) {
            const star::vec<double> two =
                *(const star::vec<double> *)(source_at((l * PARTS + part) * SLOT) + r * LANES);
#pragma unroll
            for (int e = 0; e < 2; e++)
                made.v[2 * part + e] = (T)((two.v[e] * at.v[0] + at.v[1]) * p.tables.scale);
        }
        return made;
    }
};

} // namespace fused_march

#endif
