"""What the peers share: reading the case from the command line, the proof, the timing, the answer.

A peer is a script in this folder. It has a function make(case) that returns an object with

    version        of the library it is written with, "cupy 13.4.1"
    device         that it runs on
    put(array)     copies a numpy array [nz][ny][nx] (fewer axes in 1D and 2D) to the device
    sweep(count)   sweeps it so many times; need not wait for the end
    wait()         returns when all sweeps are done
    get()          the field, as a numpy array

and ends with common.main(__file__, make). run.py runs it for `heatsolve bench --peers`. It prints one line of JSON:
name, version, device, seconds (per sweep: the median of the samples), seconds_min, seconds_max, samples, apart. Without
a result the line has the name and a reason: "absent" if something that the peer needs is missing, "error" if it failed.

A sweep is out = sum c_i in_i over the 3, 5 or 7 points of a star of radius 1. All coefficients differ. Sweeps alternate
between two arrays; the outermost nodes are never written.
"""
import argparse
import json
import os
import sys
import time

from absent import Absent, need, no_answer


class OnCupy:
    """What the peers in CuPy share: everything but the sweep."""

    def __init__(self, case):
        if case.backend != "cuda":
            raise Absent("needs a GPU")
        self.cupy = need("cupy")
        self.cupy.cuda.Device(case.device).use()
        self.version = f"cupy {self.cupy.__version__}"
        self.device = self.cupy.cuda.runtime.getDeviceProperties(case.device)["name"].decode()
        self.field = self.other = None

    def put(self, array):
        self.field, self.other = self.cupy.asarray(array), self.cupy.asarray(array)

    def wait(self):
        self.cupy.cuda.get_current_stream().synchronize()

    def get(self):
        return self.cupy.asnumpy(self.field)


def read_case(argv):
    parser = argparse.ArgumentParser()
    parser.add_argument("--points", required=True, help="NX,NY,NZ")
    parser.add_argument("--precision", choices=("float", "double"), required=True)
    parser.add_argument("--coefficients", required=True, help="centre, x-1, x+1, y-1, y+1, z-1, z+1")
    parser.add_argument("--backend", choices=("cpu", "cuda"), required=True)
    parser.add_argument("--device", type=int, default=0)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--sample", type=float, default=0.02, help="shortest sample [s]")
    parser.add_argument("--all", type=float, default=5.0, help="s, of no more than 3 samples beyond")
    parser.add_argument("--proof", help="file: points, sweeps; the field before and after")
    case = parser.parse_args(argv)
    np = need("numpy")

    case.numbers = [float(c) for c in case.coefficients.split(",")]
    case.dtype = np.float32 if case.precision == "float" else np.float64
    case.c = [case.dtype(c) for c in case.numbers]
    case.shape = tuple(int(n) for n in reversed(case.points.split(",")))
    case.dims = len(case.shape)
    return case


def inside(dims):
    """The nodes that a sweep updates."""
    return (slice(1, -1),) * dims


def neighbours(dims):
    """Slices of a field for the centre and its neighbours, in the order of the coefficients."""
    views = [inside(dims)]
    for axis in range(dims - 1, -1, -1):  # x is the last axis of an array
        for part in (slice(None, -2), slice(2, None)):
            views.append(tuple(part if a == axis else slice(1, -1) for a in range(dims)))
    return views


def weighted_sum(field, c):
    """The sum of a sweep, written once for every library whose arrays can be sliced."""
    views = neighbours(field.ndim)
    out = c[0] * field[views[0]]
    for n in range(1, len(views)):
        out = out + c[n] * field[views[n]]
    return out


def largest(array):
    import numpy as np

    return float(np.max(np.abs(array)))


def proof_case(case):
    """A small field before and after some sweeps: heatsolve's if a file is given; else a random one, with None after."""
    import numpy as np

    if not case.proof:
        start = np.random.default_rng(1).uniform(1.0, 2.0, (9, 11, 13)[-case.dims :])
        return start.astype(case.dtype), None, 4
    with open(case.proof, "rb") as file:
        points, sweeps = file.readline().decode().split()
        shape = tuple(int(n) for n in reversed(points.split(",")))
        size = int(np.prod(shape))
        start = np.fromfile(file, case.dtype, size).reshape(shape)
        return start, np.fromfile(file, case.dtype, size).reshape(shape), int(sweeps)


def prove(case, peer):
    """Checks the peer against numpy in double and against heatsolve; returns the largest difference from heatsolve."""
    import numpy as np

    start, theirs, sweeps = proof_case(case)
    expected = start.astype(np.float64)
    for _ in range(sweeps):
        expected[inside(case.dims)] = weighted_sum(expected, case.numbers)
    peer.put(start)
    peer.sweep(sweeps)
    peer.wait()
    field = np.asarray(peer.get(), np.float64)
    # one rounded product and one rounded sum per point, of numbers below 2; the same for heatsolve
    bound = 2.0 * sweeps * (2 * len(case.c) + 1) * float(np.finfo(case.dtype).eps)
    apart = largest(field - expected)
    for other, known in (("numpy", expected), ("heatsolve", theirs)):
        if known is None:
            continue
        apart = largest(field - np.asarray(known, np.float64))
        if not apart <= bound:
            raise ValueError(f"differs from {other} by {apart:g} (at most {bound:g})")
    return apart


def timed(peer, count):
    peer.wait()
    begin = time.perf_counter()
    peer.sweep(count)
    peer.wait()
    return time.perf_counter() - begin


def measure(case, peer):
    """Seconds per sweep of each sample, sampled as heatsolve samples its own kernels."""
    import numpy as np

    start = np.random.default_rng(2).random(case.shape, dtype=case.dtype)
    start += case.dtype(1.0)
    peer.put(start)
    del start
    count = 2
    timed(peer, count)
    seconds = timed(peer, count)
    while seconds < case.sample:
        count = int(count * min(16.0, 1.1 * case.sample / max(seconds, 1e-9))) + 1
        count += count % 2  # an even count ends in the array that it began with
        seconds = timed(peer, count)
    repeats = case.repeats
    if repeats > 3 and seconds * repeats > case.all:
        repeats = max(3, int(case.all / seconds))
    samples = sorted(timed(peer, count) / count for _ in range(repeats))
    field = peer.get()
    if not (field.min() > 0.5 and field.max() < 4.0):
        raise ValueError("the field is not what such sweeps can lead to")
    return samples


def answer(case, name, make):
    peer = make(case)
    apart = prove(case, peer)
    samples = measure(case, peer)
    middle = len(samples) // 2
    median = samples[middle] if len(samples) % 2 else 0.5 * (samples[middle - 1] + samples[middle])
    return {
        "name": name,
        "version": peer.version,
        "device": peer.device,
        "apart": apart,
        "samples": len(samples),
        "seconds": median,
        "seconds_min": samples[0],
        "seconds_max": samples[-1],
    }


def main(file, make):
    name = os.path.splitext(os.path.basename(file))[0]
    try:
        line = answer(read_case(sys.argv[1:]), name, make)
    except Exception as why:  # pylint: disable=broad-except
        line = no_answer(name, why)
    sys.stdout.flush()
    print(json.dumps(line), flush=True)
