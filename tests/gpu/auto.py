"""Measures how close the kernel that "auto" takes comes to the fastest one, over the cases of the benchmarks.

usage: auto.py PROGRAM DIRECTORY [--bench CSV] [--only PATTERN] [--seconds N] [--backend NAME]

Each case is a config of its own; `heatsolve tune --retune --json` times every kernel that suits it. The script prints
the rate of the heuristic's kernel, which an untuned run takes, relative to the fastest. A case fails if this ratio is
below 0.95, or if that of the kernel which a run takes after tuning is. Cases that are in the CSV of `heatsolve bench`
are judged by its rates (those in cache if there are any) and not tuned. Cases that were not reached within --seconds
are named, and count as failed.
"""

import argparse
import csv
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
    "wall": '{ type = "robin"; h = 0.1; ambient = "300.0 + 0.1*x + 0.2*y"; }',
}
GRIDS = {
    "64": [64] * 3,
    "80": [80] * 3,
    "96": [96] * 3,
    "128": [128] * 3,
    "160": [160] * 3,
    "256": [256] * 3,
    "512": [512] * 3,
    "odd": [509, 511, 513],
    "1024": [1024] * 3,
    "256^2": [256] * 2,
    "1024^2": [1024] * 2,
    "1500^2": [1500] * 2,
    "4096^2": [4096] * 2,
    "16384^2": [16384] * 2,
    "2^20": [1 << 20],
    "2^24": [1 << 24],
    "2^28": [1 << 28],
}


def cases():
    """(name, points, radius, walls, source?, precision). All grids with fixed walls; other walls, and a source that
    differs from point to point, on small and large grids of each dimension; and the sizes between which the choice
    changes."""
    for precision in ("float", "double"):
        for name, points in GRIDS.items():
            yield f"{name} fixed {precision}", points, 1, "fixed", False, precision
        for radius in (2, 3):
            yield f"512 radius {radius} fixed {precision}", [512] * 3, radius, "fixed", False, precision
            yield f"4096^2 radius {radius} fixed {precision}", [4096] * 2, radius, "fixed", False, precision
        yield f"160 radius 2 fixed {precision}", GRIDS["160"], 2, "fixed", False, precision
        for name in ("96", "128", "160", "256^2"):
            yield f"{name} robin source {precision}", GRIDS[name], 1, "robin", True, precision
        for name in ("64", "128", "1024^2"):
            yield f"{name} wall {precision}", GRIDS[name], 1, "wall", False, precision
        for name in ("64", "512", "1024^2", "4096^2", "2^20"):
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
        'time = { sweeps = 10000; };\noutput = { file = "auto.h5"; overwrite = true; };\n'
    )


def ask(program, command, backend, path, *more):
    """The answer of a command on the case, from its JSON."""
    command = [program, command, path, *more, "--json", "--set", f'solver.backend="{backend}"']
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode:
        raise RuntimeError(done.stderr.strip() or f"exit {done.returncode}")
    return json.loads(done.stdout)


class Bench:
    """GCell/s of the kernels of a case, as bench measured them with fixed walls and no source."""

    def __init__(self, path):
        self.cases = {}
        with open(path) as file:
            for row in csv.reader(file):
                if row[0] == "kernel":
                    head = row
                    continue
                row = dict(zip(head, row))
                if row["kind"] == "kernel" and row["gcells"]:
                    case = self.cases.setdefault((row["points"], row["radius"], row["precision"]), {})
                    case.setdefault(row["fields"], {})[row["kernel"]] = float(row["gcells"])

    def rates(self, points, radius, walls, source, precision):
        found = self.cases.get(("x".join(map(str, points)), str(radius), precision))
        if not found or walls != "fixed" or source:
            return None
        return found.get("cache") or found["memory"]


def judge_by_bench(program, backend, path, rates):
    """The kernel that auto takes, the one after tuning (None: not asked), GCell/s of each kernel, seconds."""
    begun = time.monotonic()
    taken = ask(program, "check", backend, path)["kernel"]
    return taken, None, rates, time.monotonic() - begun


def judge_by_tuning(program, backend, path):
    """As judge_by_bench, with the rates from `tune`."""
    found = ask(program, "tune", backend, path, "--retune")
    path.with_suffix(".json").write_text(json.dumps(found, indent=1))
    rates = {k["kernel"]: k["gcells"] for k in found["kernels"] if k["samples"] > 1}  # timed more than once
    return found["heuristic"], found["kernel"], rates, found["seconds"]


ROW = "{:26s} {:20s} {:>8s} {:20s} {:>8s} {:>6s} {:>5s}"


def report(table, name, taken, tuned, rates, seconds):
    """Prints the case's line and adds a row to the table; True if the case passes."""
    best = max(rates, key=rates.get)
    ratios = [rates.get(kernel, 0.0) / rates[best] for kernel in (taken, tuned) if kernel]
    line = ROW.format(name, taken, f"{rates.get(taken, 0.0):.1f}", best, f"{rates[best]:.1f}", f"{ratios[0]:.3f}", f"{seconds:.1f}")
    line += "  by bench" if tuned is None else f"  tuned {tuned}" if tuned != best else ""
    well = min(ratios) >= LEAST
    table.writerow([name, taken, f"{rates.get(taken, 0.0):.6g}", best, f"{rates[best]:.6g}", f"{ratios[0]:.4f}", tuned or ""])
    print(line + ("" if well else "  BELOW"), flush=True)
    return well


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--bench")
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--backend", default="cuda")
    arguments = parser.parse_args()
    arguments.directory.mkdir(parents=True, exist_ok=True)
    os.environ["XDG_CACHE_HOME"] = str(arguments.directory.resolve() / "cache")

    file = open(arguments.directory / "auto.csv", "w", buffering=1)
    table = csv.writer(file, lineterminator="\n")
    table.writerow("case heuristic gcells best best_gcells ratio tuned".split())
    begun, failed, done = time.monotonic(), 0, 0
    bench = Bench(arguments.bench) if arguments.bench else None
    print(ROW.format("case", "heuristic", "GCell/s", "best", "GCell/s", "ratio", "s"))
    for name, *case in cases():
        if not re.search(arguments.only, name):
            continue
        if time.monotonic() - begun > arguments.seconds:
            print(f"{name}: not reached")
            failed += 1
            continue
        path = arguments.directory / (re.sub(r"\W", "-", name) + ".cfg")
        path.write_text(config(*case))
        rates = bench and bench.rates(*case)
        try:
            found = judge_by_bench(arguments.program, arguments.backend, path, rates) if rates else judge_by_tuning(
                arguments.program, arguments.backend, path)
        except (RuntimeError, subprocess.TimeoutExpired) as trouble:
            print(f"{name}: {trouble}")
            failed += 1
            continue
        done += 1
        failed += not report(table, name, *found)
    file.close()
    print(f"{done} cases, {failed} below {LEAST} or not reached")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
