"""Measures the rates of whole runs, with walls and sources that bench does not have: CSV.

usage: runs.py PROGRAM DIRECTORY [--points N] [--backend NAME] [--only PATTERN] >runs.csv

Each case is a config of its own, which is written into DIRECTORY: N^3 points, a reduction for the history every 100
sweeps, a first and a last snapshot. The rate covers the sweeps and the reductions between them.
"""

import argparse
import csv
import json
import pathlib
import re
import subprocess
import sys

WALLS = {
    "fixed": 'type = "fixed";',
    "robin": 'type = "robin"; h = 750.0; ambient = 293.0;',
    "reflective": 'type = "reflective";',
    "periodic": 'type = "periodic";',
    "dirichlet of t": 'type = "dirichlet"; value = "300 + 20*t/(1 + t)";',
}
# source, number of sweeps; a source that takes a pass over memory for each sweep is slow
SOURCES = {
    "x*y*z": 4000,
    "x*t": 4000,
    "x + t": 4000,
    "x*y + t": 4000,
    "x*y*z*t": 800,
    "exp(-((x - t)^2 + (y - 0.5)^2 + (z - 0.5)^2)/0.01)": 4000,
    "sin(x*y*z)*sin(t)": 800,
    "(x-t)^2+(y-0.5)^2+(z-0.5)^2 < 0.01 ? 1 : 0": 800,
    "sin(x + z*t) + y": 800,
}


def cases():
    """(walls, source or "", precision, sweeps)"""
    for walls in WALLS:
        yield walls, "", "float", 6000
    for source, sweeps in SOURCES.items():
        yield "fixed", source, "float", sweeps
    yield "robin", "", "double", 3000
    yield "fixed", "x*y*z", "double", 2000


def config(points, walls, source, precision, sweeps, output):
    added = f'source = {{ expression = "{source}"; }};\n' if source else ""
    return (
        f'title = "whole run"; precision = "{precision}";\n'
        f"grid = {{ points = [{points}, {points}, {points}]; upper = [1.0, 1.0, 1.0]; lower = [0.0, 0.0, 0.0]; }};\n"
        "material = { conductivity = 401.0; density = 8960.0; specific_heat = 385.0; };\n"
        'initial = { value = 300.0; regions = ( { shape = "sphere"; centre = [0.5, 0.5, 0.5]; radius = 0.3; value = 400.0; } ); };\n'
        f"{added}boundary = {{ all = {{ {WALLS[walls]} }}; }};\n"
        f'time = {{ sweeps = {sweeps}; }};\noutput = {{ file = "{output}"; history_every = 100; overwrite = true; }};\n'
    )


def run(program, backend, path):
    command = [program, "run", path, "--json", "--quiet", "--set", f'solver.backend="{backend}"']
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode:
        raise RuntimeError(done.stderr.strip() or f"exit {done.returncode}")
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--points", type=int, default=512)
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    arguments.directory.mkdir(parents=True, exist_ok=True)
    memory = pathlib.Path("/dev/shm")
    output = (memory if memory.is_dir() else arguments.directory) / "heatsolve-runs.h5"

    failed = 0
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow("walls source points precision sweeps kernel gcells seconds device version commit".split())
    for number, case in enumerate(cases()):
        name = " ".join(map(str, case))
        if not re.search(arguments.only, name):
            continue
        path = arguments.directory / f"run-{number}.cfg"
        path.write_text(config(arguments.points, *case, output))
        try:
            found = run(arguments.program, arguments.backend, path)
        except (RuntimeError, subprocess.TimeoutExpired) as trouble:
            print(f"{name}: {trouble}", file=sys.stderr)
            failed += 1
            continue
        finally:
            for left in output.parent.glob(output.stem + "*"):
                left.unlink()
        walls, source, precision, sweeps = case
        seconds = found["seconds"] + found.get("reduction_seconds", found.get("looking"))  # the key in earlier versions
        table.writerow([walls, source, "x".join(map(str, found["points"])), precision, sweeps, found["kernel"],
                        f"{found['gcells'] * found['seconds'] / seconds:.6g}", f"{seconds:.6g}", found["device"], found["version"], found["commit"]])
        sys.stdout.flush()
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
