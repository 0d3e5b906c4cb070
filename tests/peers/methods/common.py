"""What the peers of `heatsolve bench --methods` share: the equations of the case, the timing, the answers.

A peer is a script in this folder. It has a function answers(case) that yields (name, version, steps, go) for each
number of steps: go() does everything from the initial field to the end and returns the field at the free nodes. It ends
with common.main(__file__, answers). run.py runs it once for each case; it prints a line of JSON for each answer.

The equations are those that heatsolve solves, node by node,

    C dT/dt = sum of G (T_j - T) over the neighbours - sink T + inflow

where C > 0; the other nodes keep their temperature. Assembling them is not timed for peers, but it is for heatsolve.
"""
import argparse
import json
import math
import os
import statistics
import sys
import time

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from absent import Absent, need, no_answer  # noqa: E402,F401

ALL = 5.0  # s: as many samples as fit into this, but at least 3,
LONG = 20.0  # and only one if the first takes longer than this


class Case:
    """name, points [x, y, z], end [s, nan: steady], tolerance, and arrays [z][y][x]."""

    def __init__(self, arguments):
        np = need("numpy")
        parser = argparse.ArgumentParser()
        for option, kind in (("case", str), ("points", str), ("end", float), ("tolerance", float), ("proof", str)):
            parser.add_argument(f"--{option}", type=kind, required=True)
        for option in ("threads", "repeats"):
            parser.add_argument(f"--{option}", type=int, default=0)
        given = parser.parse_args(arguments)
        self.name, self.end, self.tolerance, self.repeats = given.case, given.end, given.tolerance, given.repeats
        self.threads = given.threads or os.cpu_count()
        self.points = [int(n) for n in given.points.split(",")]
        fields = np.fromfile(given.proof).reshape(8, *reversed(self.points))
        self.C, self.sink, self.inflow = fields[:3]
        self.G = fields[3:6]  # to the next node along x, y, z
        self.start, self.reference = fields[6:]
        self.free = self.C > 0
        self.steady = math.isnan(self.end)
        self.unit_cube = self.name != "stack"  # uniform, diffusivity 1, walls at 0

    def equations(self):
        """(C, A, b) of C dT/dt = b - A T at the free nodes; A is a sparse SciPy matrix."""
        np, sparse = need("numpy"), need("scipy.sparse")
        number = np.cumsum(self.free).reshape(self.free.shape) - 1
        diagonal, b = self.sink.copy(), self.inflow.copy()
        rows, columns, values = [], [], []
        for axis in range(3):
            lower, upper = ([slice(None)] * 3 for _ in range(2))
            lower[2 - axis], upper[2 - axis] = slice(None, -1), slice(1, None)
            lower, upper = tuple(lower), tuple(upper)
            G = self.G[axis][lower]
            for here, there in ((lower, upper), (upper, lower)):
                diagonal[here] += G
                both = self.free[here] & self.free[there] & (G != 0)
                rows.append(number[here][both])
                columns.append(number[there][both])
                values.append(-G[both])
                b[here] += np.where(self.free[there], 0.0, G * self.start[there])
        count = int(self.free.sum())
        rows.append(np.arange(count))
        columns.append(np.arange(count))
        values.append(diagonal[self.free])
        entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
        return self.C[self.free], sparse.csr_matrix(entries, shape=(count, count)), b[self.free]

    def error(self, field):
        """The error of a field at the free nodes, or for a steady state its residual, defined as in heatsolve."""
        np = need("numpy")
        if self.steady:
            C, A, b = self.equations()
            rate = [np.abs((b - A @ T) / C).max() for T in (field, self.start[self.free])]
            return rate[0] / rate[1]
        return np.abs(field - self.reference[self.free]).max() / np.abs(self.reference).max()


def sdirk2(C, A, b, T, end, steps, factorise):
    """Two stages with one matrix, order 2, L-stable: Alexander, SIAM J. Numer. Anal. 14 (1977). factorise(M) returns a
    function that solves with M."""
    sparse = need("scipy.sparse")
    gamma, dt = 1.0 - math.sqrt(0.5), end / steps
    solve = factorise((sparse.diags(C) + gamma * dt * A).tocsc())
    for _ in range(steps):
        first = solve(b - A @ T)
        second = solve(b - A @ (T + (1.0 - gamma) * dt * first))
        T = T + dt * ((1.0 - gamma) * first + gamma * second)
    return T


def measure(case, go):
    seconds, field, wanted = [], None, 1
    while len(seconds) < wanted:
        begin = time.perf_counter()
        field = go()
        seconds.append(time.perf_counter() - begin)
        wanted = 1 if seconds[0] > LONG else max(3, min(case.repeats, int(ALL / seconds[0])))
    return seconds, case.error(field)


def main(file, answers):
    try:
        case = Case(sys.argv[1:])
        for name, version, steps, go in answers(case):
            seconds, error = measure(case, go)
            say = {"name": name, "version": version, "device": f"{case.threads} threads", "steps": steps}
            say.update(apart=float(error), samples=len(seconds), seconds=statistics.median(seconds))
            say.update(seconds_min=min(seconds), seconds_max=max(seconds))
            print(json.dumps(say), flush=True)
    except Exception as why:  # pylint: disable=broad-except
        print(json.dumps(no_answer(os.path.splitext(os.path.basename(file))[0], why)), flush=True)
