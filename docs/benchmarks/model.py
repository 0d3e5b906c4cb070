"""What a sweep should cost at least, kernel by kernel, from counts: docs/performance/model.md explains it.

Each kernel has the words (values of the field) that a point and sweep moves from and to device
memory and from L2, what it takes of the on-chip pipe (L1 and shared memory: 32 words of 4 bytes a
clock and multiprocessor, a cache line that a warp touches a clock at least), multiply-adds, barriers,
and how many points a multiprocessor has under way at a time. A prediction is the longest of the
times that each of these would take alone.

    python3 docs/benchmarks/model.py            the table for one H200
"""

# One H200. Clock: as it ran under load; copies and L2: `heatsolve bench --roofline`, 512^3 float.
MULTIPROCESSORS = 132
CLOCK = 1.85e9  # Hz: what 62.6e12 multiply-adds (counted twice) a second come to
COPY = {"float": 4.21e12, "double": 4.25e12}  # bytes/s, read plus written
L2 = 8.8e12  # bytes/s read
FMA = {"float": 128, "double": 64}  # a clock and multiprocessor
# From asking memory to the next request of the same thread: load, barrier, sum, store. The one
# number that is fitted, to march_halo's 270 GCell/s in float; the others follow.
ROUND = 1.0e-6  # s
ISSUE = 128  # instructions of a thread that a multiprocessor issues a clock: 4 warps of 32


class Cost:
    """Of a point and sweep, in one precision."""

    def __init__(self, memory, l2, pipe, fma, barriers=0.0, under_way=None):
        self.memory = memory  # words, read plus written
        self.l2 = l2  # words, read plus written
        self.pipe = pipe  # clocks of a multiprocessor's L1 and shared memory
        self.fma = fma
        self.barriers = barriers  # of a block, a point
        self.under_way = under_way  # points (times sweeps) of a multiprocessor; None: enough

    def times(self, precision, size):
        """Seconds of a point and sweep on the whole device, by what bounds it."""
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
    # A warp covers 8 x 4 points: 4 rows, so 4 lines a load; x-1 and x+1 leave their line in one row of
    # 4 (of 2 in double). 5 loads along rows, 2 beside, 1 store. 4 blocks of 512 threads.
    beside = 4 * (1 + w / 4)
    return Cost(2, (512 + 6 * 64) / 512 + 1, (5 * 4 + 2 * beside + 4) / 32, 7, under_way=2048)


def shared_tile_3d(w):
    # 512 threads load 8^3 and write 6^3 points: 16 warps load, 12 sum and store.
    pipe = 16 * 4 * (1 + 7 * w / 32) + 16 * w + 12 * 7 * w + 12 * 4
    return Cost(2, 512 / 216 + 1, pipe / 216, 7, 1 / 216, under_way=4 * 216)


def plane_tile(w, reads, barriers):
    # 32 x 32 threads write 30 x 30 points of a plane: rows off the lines' beginnings.
    pipe = 32 * (1 + w) + 32 * w + 30 * reads * w + 30 * (1 + w)
    return Cost(2, 1024 * 32 / (900 * 30) + 1, pipe / 900, 7, barriers / 900, under_way=2 * 900)


def march_halo(w):
    # 32 x 16 threads, each a point; 2 rows and 2 columns of halo, each point of a column a line.
    pipe = 18 * (1 + w) + 32 + 19 * w + 16 * 4 * w + 16 * (1 + w)
    return Cost(2, 1 + 2 / 32 + 2 / 16 + 2 / 64 + 1, pipe / 512, 7, 2 / 512, under_way=4 * 512)


def vector_march_3d(w):
    # A warp's row of 32 vectors: 4 lines its own, 8 for the rows above and below, 2 at its ends, 4
    # stored. Chunks of 8 planes, blocks of 4 rows.
    points = 128 / w
    return Cost(2, 1 + 2 / 4 + 2 / 8 + 1, 18 / points, 7)


def bulk_march_3d(w):
    # A warp's vectors: 6 of 10 rows and two beside each read from shared memory, where the bulk copies
    # wrote 10 rows for 8, and one stored, 4 lines each. Tiles of 512 (256) x 8 points.
    points = 128 / w
    return Cost(2, 1 + 2 / 8 + 1, 4 * ((4 + 2) / 4 + 2 + 10 / 8 + 1) / points, 7)


def temporal_3d(w):
    # (32/w x 8 x 8) points of two sweeps; a tile and its halo of 2 stands in shared memory.
    x = 32 // w
    tile, first, last = (x + 4) * 12 * 12, (x + 2) * 10 * 10, x * 8 * 8
    words = tile + 7 * first + first + 7 * last
    return Cost((tile / last + 1) / 2, (tile / last + 1) / 2, words * w / 32 / (2 * last),
                7 * (first + last) / (2 * last), 2 / (2 * last))


def fused_march_3d(w, levels=4):
    # Tiles of 64 x 64 (64 x 32) points, a halo on each side swept twice (along x in whole vectors), 16
    # bytes and 4 rows a thread: at each level but the first 2 of 4 rows go to shared memory, at each 2
    # come back, and a shuffle to each side for every 16 bytes; level 0 goes in and out of shared memory.
    rows, vector = 64 // w, 4 // w
    stored = (64 - 2 * (-(-levels // vector) * vector)) * (rows - 2 * levels)
    redundancy = 64 * rows / stored
    # In double with four levels the first and the last of eight warps sweep 6 of their 16 rows.
    swept = (6 * 16 + 2 * 6) / (8 * 16) if w == 2 and levels == 4 else 1
    pipe = redundancy * (w * (0.5 + 0.5 * (levels - 1) / levels + 2 / levels) + 2 / vector * swept) / 32
    return Cost((redundancy + 1) / levels, (redundancy + 1) / levels, pipe, 7 * redundancy * swept, 1 / (levels * stored))


def fused_radius2_3d(w):
    # Two levels of radius 2. Tiles of 64 x 80 (64 x 32) points, a halo of 4 on each side swept twice; in
    # float a tile's rows begin half a sector off, so nine sectors come for eight. A warp's step: 23 (28)
    # vectors a lane read from shared memory, 5 (4) written to it, as many come there and are stored, 4
    # lines each, and in float 40 shuffles; that is both sweeps of 5 rows of 4 (4 of 2) points a lane.
    rows = 80 if w == 1 else 32
    redundancy = 64 * rows / (56 * (rows - 8))
    read = redundancy * (9 / 8 if w == 1 else 1)
    pipe = ((23 + 3 * 5) * 4 + 40) / (32 * 20 * 2) if w == 1 else (28 + 3 * 4) * 4 / (32 * 8 * 2)
    return Cost((read + 1) / 2, (read + 1) / 2, redundancy * pipe, 13 * redundancy)


def resident_3d(w, points=2048, depth=2, sweeps=1024):
    # 64^3 points on 128 multiprocessors, in boxes of 64 x 4 x 8 and a halo of two layers, which comes by
    # way of L2 every second sweep: sent, received, emptied. Of a sweep each vector is written to shared
    # memory and two are read.
    halo = 64 * (4 + 2 * depth) * (8 + 2 * depth) / points - 1
    swept = 1 + 64 * (4 + 2) * (8 + 2) / points
    return Cost(2 / sweeps, 3 * halo / depth, 3 * w / 32 * swept / depth, 7 * swept / depth, 1 / points,
                under_way=points * depth)


def basic_2d(w):
    # A warp is a row of 32: a line (two in double), one more where it begins off a line.
    return Cost(2, (256 + 2 * 32 + 2 * 8) / 256 + 1, (3 * w + 2 * (w + 1) + w) / 32, 5, under_way=2048)


def tile_2d(w):
    pipe = 16 * (1 + w) + 2 * (1 + w) + 32 + 19 * w + 16 * 5 * w + 16 * (1 + w)
    return Cost(2, 1 + 2 / 32 + 2 / 16 + 1, pipe / 512, 5, 1 / 512, under_way=4 * 512)


def shared_tile_2d(w):
    pipe = 32 * (1 + w) + 32 * w + 30 * 5 * w + 30 * (1 + w)
    return Cost(2, 1024 / 900 + 1, pipe / 900, 5, 1 / 900, under_way=2 * 900)


def collaborative_2d(w):
    # 256 threads load 66 x 34 points in 9 turns and sum 8 each; 8 blocks.
    words = 66 * 34 * w / 32
    pipe = words * (1 + 1 / w) + words + 64 * 5 * w + 64 * (1 + w)
    return Cost(2, 66 * 34 / 2048 + 1, pipe / 2048, 5, 1 / 2048, under_way=8 * 2048)


def vector_march_2d(w):
    # Marches along y with whole rows of vectors: 4 lines, 2 at the ends, 4 stored.
    return Cost(2, 2, 10 / (128 / w), 5)


def bulk_march_2d(w):
    # As in 3D, with rows that are read as they are marched along.
    return Cost(2, 2, 4 * (1 + 2 + 1 + 1) / (128 / w), 5)


def temporal_2d(w):
    # 64 x 32 points of 4 sweeps, a halo of 4, in shared memory.
    levels = [(64 + 2 * n) * (32 + 2 * n) for n in (4, 3, 2, 1, 0)]
    words = levels[0] + sum(6 * n for n in levels[1:]) - levels[4]
    return Cost((levels[0] / 2048 + 1) / 4, (levels[0] / 2048 + 1) / 4, words * w / 32 / (4 * 2048),
                5 * sum(levels[1:]) / (4 * 2048), 4 / (4 * 2048))


def fused_march_2d(w):
    # Ten (24) levels; a warp's strip of 256 points (two warps side by side, each fetching 192, of whose points
    # 376 differ), a halo on each side swept twice, in whole vectors. Two shuffles a lane and level; rows go to
    # shared memory and come from there at the first and the last level (and every third).
    levels, swept, points, lane, vector, groups = (10, 256, 256, 8, 4, 1) if w == 1 else (24, 384, 376, 6, 2, 8)
    stored = points - 2 * (-(-levels // vector) * vector)
    pipe = swept / stored * w * (2 / lane + 2 * (groups + 1) / levels) / 32
    return Cost((swept / stored + 1) / levels, (swept / stored + 1) / levels, pipe, 5 * swept / stored)


def basic_1d(w):
    return Cost(2, 2, (w + 2 * (w + 1) + w) / 32, 3, under_way=2048)


def shared_tile_1d(w):
    return Cost(2, 256 / 254 + 1, (1 + w + w + 3 * w + 1 + w) * 8 / 254, 3, 1 / 254, under_way=8 * 254)


def register_window(w):
    # A thread's 8 points lie side by side, so that a warp touches 8 lines (16) a load and a store; a
    # line stays in L1 between them.
    return Cost(2, 2, (10 + 8) * 8 * w / 256, 3, under_way=2048 * 8)


def warp_shuffle(w):
    # One load, one more at each of the warp's ends, two shuffles, one store.
    return Cost(2, 2 + 2 * 8 / 32 / w, (w + 2 + 2 * w + w) / 32, 3, under_way=2048)


def vector_march_1d(w):
    # 4 vectors of 16 bytes a thread at once; two shuffles and two single loads a vector.
    return Cost(2, 2, (4 + 2 + 2 * w + 4) / (128 / w), 3)


def fused_line_1d(w, steps=32):
    # 1024 points of a warp's registers, 32 a lane, of which 32 at each end are swept twice; two shuffles
    # a lane and sweep; in and out through shared memory.
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
    """None for a kernel that has no model."""
    model = MODELS.get((dims, radius, kernel))
    return model(1 if precision == "float" else 2) if model else None


def predict(dims, kernel, precision, radius=1):
    """GCell/s, and what bounds it."""
    c = cost(dims, kernel, precision, radius)
    if not c:
        return None
    times = c.times(precision, 4 if precision == "float" else 8)
    bound = max(times, key=times.get)
    return 1e-9 / times[bound], bound


def issue(instructions):
    """GCell/s that so many instructions a point allow; they are counted on the device, not here."""
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
