"""How near what "auto" takes comes to the best single kernel, over the cases of the benchmarks.

usage: auto.py PROGRAM DIRECTORY [--only PATTERN] [--seconds N] [--backend NAME]

Each case is a config of its own; `heatsolve tune --retune --json` times every kernel that suits it.
Two ratios to the fastest are printed: of the kernel of the preference table, which a run takes that
was never tuned, and of the kernel that a run takes afterwards. Fails where one is below 0.95.
Cases that were not reached within --seconds are named, and count as failed.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import time

LEAST = 0.95

WALLS = {
    "fixed": '{ type = "fixed"; }',
    "periodic": '{ type = "periodic"; }',
    "robin": '{ type = "robin"; h = 0.1; ambient = 300.0; }',
}
GRIDS = {
    "64": [64] * 3,
    "128": [128] * 3,
    "256": [256] * 3,
    "512": [512] * 3,
    "odd": [509, 511, 513],
    "1024": [1024] * 3,
    "1024^2": [1024] * 2,
    "4096^2": [4096] * 2,
    "16384^2": [16384] * 2,
    "2^20": [1 << 20],
    "2^24": [1 << 24],
    "2^28": [1 << 28],
}


def cases():
    """(name, points, radius, walls, source?, precision): every grid with fixed walls; the others, and
    a source that differs from point to point, on grids of each dims and of small and large size."""
    for precision in ("float", "double"):
        for name, points in GRIDS.items():
            yield f"{name} fixed {precision}", points, 1, "fixed", False, precision
        for radius in (2, 3):
            yield f"512 radius {radius} fixed {precision}", [512] * 3, radius, "fixed", False, precision
            yield f"4096^2 radius {radius} fixed {precision}", [4096] * 2, radius, "fixed", False, precision
        for name in ("64", "256", "512", "1024^2", "4096^2", "2^20", "2^24"):
            for walls in ("periodic", "robin"):
                yield f"{name} {walls} {precision}", GRIDS[name], 1, walls, False, precision
            yield f"{name} robin source {precision}", GRIDS[name], 1, "robin", True, precision


def config(points, radius, walls, source, precision):
    added = "source = { expression = \"1e-3*cos(0.1*x)\"; };\n" if source else ""
    return (
        f'title = "auto"; precision = "{precision}";\n'
        f"grid = {{ points = {points}; spacing = 1.0; }};\n"
        "material = { conductivity = 1.0; density = 1.0; specific_heat = 1.0; };\n"
        f"stencil = {{ radius = {radius}; }};\n"
        "initial = { value = 300.0; };\n"
        f"{added}boundary = {{ all = {WALLS[walls]}; }};\n"
        'time = { sweeps = 10000; };\noutput = { file = "auto.h5"; };\n'
    )


def tune(program, backend, path):
    command = [program, "tune", path, "--retune", "--json", "--set", f'solver.backend="{backend}"']
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode:
        raise RuntimeError(done.stderr.strip() or f"exit {done.returncode}")
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--backend", default="cuda")
    arguments = parser.parse_args()
    arguments.directory.mkdir(parents=True, exist_ok=True)
    os.environ["XDG_CACHE_HOME"] = str(arguments.directory.resolve() / "cache")

    begun, failed, done = time.monotonic(), 0, 0
    row = "{:26s} {:20s} {:>8s} {:20s} {:>8s} {:>6s} {:>5s}"
    print(row.format("case", "preferred", "GCell/s", "best", "GCell/s", "ratio", "s"))
    for name, *case in cases():
        if not re.search(arguments.only, name):
            continue
        if time.monotonic() - begun > arguments.seconds:
            print(f"{name}: not reached")
            failed += 1
            continue
        path = arguments.directory / (re.sub(r"\W", "-", name) + ".cfg")
        path.write_text(config(*case))
        try:
            found = tune(arguments.program, arguments.backend, path)
        except (RuntimeError, subprocess.TimeoutExpired) as trouble:
            print(f"{name}: {trouble}")
            failed += 1
            continue
        path.with_suffix(".json").write_text(json.dumps(found, indent=1))
        rate = {k["kernel"]: k["gcells"] for k in found["kernels"] if k["samples"] > 1}  # not one look alone
        best = max(rate, key=rate.get)
        ratio = rate[found["preferred"]] / rate[best]
        after = rate[found["kernel"]] / rate[best]
        bad = ratio < LEAST or after < LEAST
        failed += bad
        done += 1
        print(
            row.format(name, found["preferred"], f"{rate[found['preferred']]:.1f}", best, f"{rate[best]:.1f}",
                       f"{ratio:.3f}", f"{found['seconds']:.1f}") + (f"  tuned {found['kernel']}" if found["kernel"] != best else "")
            + ("  BELOW" if bad else ""),
            flush=True,
        )
    print(f"{done} cases, {failed} below {LEAST} or not reached")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
