"""Predicts from counts what a sweep should cost at least, kernel by kernel: docs/performance/model.md explains it.

The model counts for each kernel, per point and sweep: the words (values of the field) moved from and to device memory
and L2; the clocks of the on-chip pipe (L1 and shared memory: per multiprocessor 32 words of 4 bytes a clock, and at
most one cache line that a warp touches a clock); multiply-adds; and barriers. It also counts the points that a
multiprocessor has in flight at a time. A prediction is the longest of the times that each of these would take alone.

    python3 docs/benchmarks/model.py            the table for one H200
"""

# One H200. The clock is that under load; copy and L2 rates are from `heatsolve bench --roofline`, 512^3 float.
MULTIPROCESSORS = 132
CLOCK = 1.85e9  # Hz: from 62.6e12 flop/s, a multiply-add counted as two
COPY = {"float": 4.21e12, "double": 4.25e12}  # bytes/s, read plus written
L2 = 8.8e12  # bytes/s read
FMA = {"float": 128, "double": 64}  # per clock and multiprocessor
# From a request to memory to the next request of the same thread: load, barrier, sum, store. This is the only fitted
# number (to march_halo's 270 GCell/s in float); the rates of the other kernels follow.
ROUND = 1.0e-6  # s
ISSUE = 128  # thread instructions that a multiprocessor issues a clock: 4 warps of 32


class Cost:
    """The counts of a kernel per point and sweep, in one precision."""

    def __init__(self, memory, l2, pipe, fma, barriers=0.0, under_way=None):
        self.memory = memory  # words, read plus written
        self.l2 = l2  # words, read plus written
        self.pipe = pipe  # clocks of a multiprocessor's L1 and shared memory
        self.fma = fma
        self.barriers = barriers  # of a block, per point
        self.under_way = under_way  # points (times sweeps) in flight on a multiprocessor; None: enough

    def times(self, precision, size):
        """Seconds per point and sweep on the whole device, for each resource that may be the bound."""
        chip = MULTIPROCESSORS * CLOCK
        out = {
            "memory": self.memory * size / COPY[precision],
            "L2": self.l2 * size / L2,
            "L1 and shared": self.pipe / chip,
            "arithmetic": self.fma / FMA[precision] / chip,
        }
        if self.under_way:
            out["latency"] = ROUND / (self.under_way * MULTIPROCESSORS)
        return out


def basic_3d(w):
    # A warp covers 8 x 4 points: 4 rows, so a load touches 4 cache lines. The loads of x-1 and x+1 touch another line
    # in one row of 4 (double: of 2). 5 loads along rows, 2 beside, 1 store. 4 blocks of 512 threads.
    beside = 4 * (1 + w / 4)
    return Cost(2, (512 + 6 * 64) / 512 + 1, (5 * 4 + 2 * beside + 4) / 32, 7, under_way=2048)


def shared_tile_3d(w):
    # 512 threads load 8^3 points and write 6^3: 16 warps load, 12 sum and store.
    pipe = 16 * 4 * (1 + 7 * w / 32) + 16 * w + 12 * 7 * w + 12 * 4
    return Cost(2, 512 / 216 + 1, pipe / 216, 7, 1 / 216, under_way=4 * 216)


def plane_tile(w, reads, barriers):
    # 32 x 32 threads write 30 x 30 points of a plane; rows do not begin at a cache line.
    pipe = 32 * (1 + w) + 32 * w + 30 * reads * w + 30 * (1 + w)
    return Cost(2, 1024 * 32 / (900 * 30) + 1, pipe / 900, 7, barriers / 900, under_way=2 * 900)


def march_halo(w):
    # 32 x 16 threads, one point each; 2 rows and 2 columns of halo; each point of a column is in a line of its own.
    pipe = 18 * (1 + w) + 32 + 19 * w + 16 * 4 * w + 16 * (1 + w)
    return Cost(2, 1 + 2 / 32 + 2 / 16 + 2 / 64 + 1, pipe / 512, 7, 2 / 512, under_way=4 * 512)


def vector_march_3d(w):
    # A warp's row of 32 vectors: 4 cache lines of its own, 8 of the rows above and below, 2 at its ends, 4 stored.
    # Chunks of 8 planes, blocks of 4 rows.
    points = 128 / w
    return Cost(2, 1 + 2 / 4 + 2 / 8 + 1, 18 / points, 7)


def bulk_march_3d(w):
    # For 4 rows of vectors a warp reads 6 rows (of a tile's 10) from shared memory, and two neighbours beside each
    # vector; the bulk copies write 10 rows for 8; one vector is stored; 4 lines each. Tiles of 512 (double: 256) x 8
    # points.
    points = 128 / w
    return Cost(2, 1 + 2 / 8 + 1, 4 * ((4 + 2) / 4 + 2 + 10 / 8 + 1) / points, 7)


def temporal_3d(w):
    # Two sweeps of a tile of 32/w x 8 x 8 points; the tile and its halo of 2 are in shared memory.
    x = 32 // w
    tile, first, last = (x + 4) * 12 * 12, (x + 2) * 10 * 10, x * 8 * 8
    words = tile + 7 * first + first + 7 * last
    return Cost((tile / last + 1) / 2, (tile / last + 1) / 2, words * w / 32 / (2 * last),
                7 * (first + last) / (2 * last), 2 / (2 * last))


def fused_march_3d(w, levels=4):
    # Tiles of 64 x 64 points (double: 64 x 32) with a halo on each side that is swept twice (along x in whole vectors).
    # A thread has 16 bytes of 4 rows. At each level but the first 2 of the 4 rows go to shared memory, at each level 2
    # come back; one shuffle to each side per 16 bytes. Level 0 goes through shared memory both ways.
    rows, vector = 64 // w, 4 // w
    stored = (64 - 2 * (-(-levels // vector) * vector)) * (rows - 2 * levels)
    redundancy = 64 * rows / stored
    # In double with four levels the first and the last of the eight warps sweep only 6 of their 16 rows.
    swept = (6 * 16 + 2 * 6) / (8 * 16) if w == 2 and levels == 4 else 1
    pipe = redundancy * (w * (0.5 + 0.5 * (levels - 1) / levels + 2 / levels) + 2 / vector * swept) / 32
    return Cost((redundancy + 1) / levels, (redundancy + 1) / levels, pipe, 7 * redundancy * swept, 1 / (levels * stored))


def fused_radius2_3d(w):
    # Two levels of radius 2. Tiles of 64 x 80 points (double: 64 x 32) with a halo of 4 on each side that is swept
    # twice. In float a tile's rows begin half a sector off, so nine sectors are loaded for eight. In a step each lane
    # reads 23 (double: 28) vectors from shared memory, writes 5 (4) to it, loads as many and stores as many, 4 lines
    # each; in float there are 40 shuffles. A step is both sweeps of 5 rows of 4 points a lane (double: 4 rows of 2).
    rows = 80 if w == 1 else 32
    redundancy = 64 * rows / (56 * (rows - 8))
    read = redundancy * (9 / 8 if w == 1 else 1)
    pipe = ((23 + 3 * 5) * 4 + 40) / (32 * 20 * 2) if w == 1 else (28 + 3 * 4) * 4 / (32 * 8 * 2)
    return Cost((read + 1) / 2, (read + 1) / 2, redundancy * pipe, 13 * redundancy)


def resident_3d(w, points=2048, depth=2, sweeps=1024):
    # 64^3 points on 128 multiprocessors, in boxes of 64 x 4 x 8 with a halo of two layers, which every second sweep
    # goes through L2 three times: sent, received, emptied. A sweep writes each vector to shared memory once and reads
    # two.
    halo = 64 * (4 + 2 * depth) * (8 + 2 * depth) / points - 1
    swept = 1 + 64 * (4 + 2) * (8 + 2) / points
    return Cost(2 / sweeps, 3 * halo / depth, 3 * w / 32 * swept / depth, 7 * swept / depth, 1 / points,
                under_way=points * depth)


def basic_2d(w):
    # A warp is a row of 32 points: one cache line (double: two), and one more where the row does not begin at a line.
    return Cost(2, (256 + 2 * 32 + 2 * 8) / 256 + 1, (3 * w + 2 * (w + 1) + w) / 32, 5, under_way=2048)


def tile_2d(w):
    pipe = 16 * (1 + w) + 2 * (1 + w) + 32 + 19 * w + 16 * 5 * w + 16 * (1 + w)
    return Cost(2, 1 + 2 / 32 + 2 / 16 + 1, pipe / 512, 5, 1 / 512, under_way=4 * 512)


def shared_tile_2d(w):
    pipe = 32 * (1 + w) + 32 * w + 30 * 5 * w + 30 * (1 + w)
    return Cost(2, 1024 / 900 + 1, pipe / 900, 5, 1 / 900, under_way=2 * 900)


def collaborative_2d(w):
    # 256 threads load 66 x 34 points in 9 turns and sum 8 points each; 8 blocks.
    words = 66 * 34 * w / 32
    pipe = words * (1 + 1 / w) + words + 64 * 5 * w + 64 * (1 + w)
    return Cost(2, 66 * 34 / 2048 + 1, pipe / 2048, 5, 1 / 2048, under_way=8 * 2048)


def vector_march_2d(w):
    # Marches along y with whole rows of vectors: 4 lines loaded, 2 at the ends, 4 stored.
    return Cost(2, 2, 10 / (128 / w), 5)


def bulk_march_2d(w):
    # As in 3D, but rows are read in the direction of the march.
    return Cost(2, 2, 4 * (1 + 2 + 1 + 1) / (128 / w), 5)


def temporal_2d(w):
    # Four sweeps of 64 x 32 points with a halo of 4, in shared memory.
    levels = [(64 + 2 * n) * (32 + 2 * n) for n in (4, 3, 2, 1, 0)]
    words = levels[0] + sum(6 * n for n in levels[1:]) - levels[4]
    return Cost((levels[0] / 2048 + 1) / 4, (levels[0] / 2048 + 1) / 4, words * w / 32 / (4 * 2048),
                5 * sum(levels[1:]) / (4 * 2048), 4 / (4 * 2048))


def fused_march_2d(w):
    # Ten levels (double: 24). A warp's strip has 256 points (double: two warps side by side fetch 192 each, 376 of them
    # different), with a halo on each side, in whole vectors, that is swept twice. Two shuffles a lane and level. Rows
    # pass through shared memory at the first and the last level (double: and at every third).
    levels, swept, points, lane, vector, groups = (10, 256, 256, 8, 4, 1) if w == 1 else (24, 384, 376, 6, 2, 8)
    stored = points - 2 * (-(-levels // vector) * vector)
    pipe = swept / stored * w * (2 / lane + 2 * (groups + 1) / levels) / 32
    return Cost((swept / stored + 1) / levels, (swept / stored + 1) / levels, pipe, 5 * swept / stored)


def basic_1d(w):
    return Cost(2, 2, (w + 2 * (w + 1) + w) / 32, 3, under_way=2048)


def shared_tile_1d(w):
    return Cost(2, 256 / 254 + 1, (1 + w + w + 3 * w + 1 + w) * 8 / 254, 3, 1 / 254, under_way=8 * 254)


def register_window(w):
    # A thread's 8 points lie side by side, so a load or store of a warp touches 8 lines (double: 16); a line stays in
    # L1 from one of them to the next.
    return Cost(2, 2, (10 + 8) * 8 * w / 256, 3, under_way=2048 * 8)


def warp_shuffle(w):
    # One load, another at each end of the warp, two shuffles, one store.
    return Cost(2, 2 + 2 * 8 / 32 / w, (w + 2 + 2 * w + w) / 32, 3, under_way=2048)


def vector_march_1d(w):
    # A thread has 4 vectors of 16 bytes in flight; two shuffles and two single loads per vector.
    return Cost(2, 2, (4 + 2 + 2 * w + 4) / (128 / w), 3)


def fused_line_1d(w, steps=32):
    # A warp keeps 1024 points in registers, 32 a lane; the 32 at each end are swept twice. Two shuffles a lane and
    # sweep; loads and stores pass through shared memory.
    redundancy = 1024 / 960
    pipe = redundancy * w * (2 / 32 + 4 / steps) / 32
    return Cost((redundancy + 1) / steps, (redundancy + 1) / steps, pipe, 3 * redundancy)


MODELS = {  # dims, radius and kernel
    (3, 1, "basic"): basic_3d,
    (3, 1, "shared_tile"): shared_tile_3d,
    (3, 1, "coarsened"): lambda w: plane_tile(w, 7, 1),
    (3, 1, "register_tile"): lambda w: plane_tile(w, 4, 2),
    (3, 1, "march_halo"): march_halo,
    (3, 1, "vector_march"): vector_march_3d,
    (3, 1, "bulk_march"): bulk_march_3d,
    (3, 1, "temporal_3d"): temporal_3d,
    (3, 1, "fused_fields_3d"): lambda w: fused_march_3d(w, 3),
    (3, 1, "fused_march_3d"): fused_march_3d,
    (3, 1, "resident"): resident_3d,
    (3, 2, "fused_radius2_3d"): fused_radius2_3d,
    (2, 1, "basic"): basic_2d,
    (2, 1, "shared_tile"): shared_tile_2d,
    (2, 1, "tile_2d"): tile_2d,
    (2, 1, "collaborative_2d"): collaborative_2d,
    (2, 1, "vector_march"): vector_march_2d,
    (2, 1, "bulk_march"): bulk_march_2d,
    (2, 1, "temporal_2d"): temporal_2d,
    (2, 1, "fused_march_2d"): fused_march_2d,
    (1, 1, "basic"): basic_1d,
    (1, 1, "shared_tile"): shared_tile_1d,
    (1, 1, "register_window"): register_window,
    (1, 1, "warp_shuffle"): warp_shuffle,
    (1, 1, "vector_march"): vector_march_1d,
    (1, 1, "fused_line_1d"): fused_line_1d,
}


def cost(dims, kernel, precision, radius=1):
    """The counts of a kernel, or None if it has no model."""
    model = MODELS.get((dims, radius, kernel))
    return model(1 if precision == "float" else 2) if model else None


def predict(dims, kernel, precision, radius=1):
    """The predicted GCell/s, and the resource that bounds it; None if the kernel has no model."""
    c = cost(dims, kernel, precision, radius)
    if not c:
        return None
    times = c.times(precision, 4 if precision == "float" else 8)
    bound = max(times, key=times.get)
    return 1e-9 / times[bound], bound


def issue(instructions):
    """The bound in GCell/s from the number of instructions per point, which is counted on the device, not here."""
    return ISSUE * MULTIPROCESSORS * CLOCK / instructions * 1e-9


def main():
    head = f"{'':16s} {'':6s} {'memory':>7s} {'L2':>6s} {'clocks':>7s} {'fma':>5s} {'barriers':>8s} {'GCell/s':>8s}"
    for case in dict.fromkeys((dims, radius) for dims, radius, _ in MODELS):
        dims, radius = case
        print(f"\n{dims}D, radius {radius}, a point and sweep\n{head}")
        for *at, kernel in MODELS:
            for precision in ("float", "double") if tuple(at) == case else ():
                c, (rate, bound) = (f(dims, kernel, precision, radius) for f in (cost, predict))
                print(f"{kernel:16s} {precision:6s} {c.memory:7.2f} {c.l2:6.2f} {c.pipe:7.3f} {c.fma:5.1f} "
                      f"{c.barriers:8.5f} {rate:8.0f}  {bound}")


if __name__ == "__main__":
    main()
