"""Measures what whole runs take besides their sweeps and the writing of their bytes: CSV.

usage: whole.py PROGRAM... [--backend NAME] [--points N] [--sweeps N] [--snapshots N] [--repeats N] [--place DIRECTORY]

There are two cases, both in float, with dirichlet walls and an initial expression: N^3 points with the given sweeps and
snapshots, and 64^3 points with 10 sweeps and two snapshots. The programs run in turns, and dd writes as many bytes of
zeros (at least 64 MiB) to the same place. All figures are medians over the repeats, after a first one that is not
counted.

  wall     s, the command from start to end
  sweeps   s, as the run reports them
  bytes    size of the file
  dd       bytes/s of dd
  left     s: wall - sweeps - bytes/dd
  begin    s from the start to the first byte of the first snapshot
  end      s from the last byte to the end
"""

import argparse
import csv
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

LOOK = 0.0005  # s between two looks at the file's size
FIRST_FIELD = 2048  # bytes: where the first snapshot begins


def config(points, sweeps, snapshots):
    every = f"output = {{ every = {sweeps // (snapshots - 1)}; }};\n" if snapshots > 2 else ""
    return (
        'title = "whole run"; precision = "float";\n'
        f"grid = {{ points = [{points}, {points}, {points}]; lower = [0.0, 0.0, 0.0]; upper = [1.0, 1.0, 1.0]; }};\n"
        "material = { diffusivity = 1.0; };\n"
        'initial = { expression = "300 + 100*sin(pi*x)*sin(pi*y)*sin(pi*z)"; };\n'
        'boundary = { all = { type = "dirichlet"; value = 300.0; }; };\n'
        f"time = {{ sweeps = {sweeps}; }};\n{every}"
    )


def size(*paths):
    """The size in bytes of the first of these files that exists, or 0."""
    for path in paths:
        try:
            return os.stat(path).st_size
        except OSError:
            pass
    return 0


def remove(directory):
    for path in directory.iterdir():
        path.unlink()


def run(program, backend, path, directory):
    """Times of one run, found by watching its file grow."""
    file = directory / "whole.h5"
    part = directory / "whole.h5.part"
    command = [program, "run", path, "--json", "--quiet", "--output", file, "--set", f'solver.backend="{backend}"']
    begun = last = None
    known = 0
    start = time.perf_counter()
    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as failed:
        process = subprocess.Popen(command, stdout=said, stderr=failed)
        while process.poll() is None:
            now = size(file, part)
            if now > known:
                known, last = now, time.perf_counter()
                begun = begun or (last if now > FIRST_FIELD else None)
            time.sleep(LOOK)
        end = time.perf_counter()
        for stream in (said, failed):
            stream.seek(0)
        if process.returncode:
            raise RuntimeError(failed.read().decode().strip() or f"exit {process.returncode}")
        summary = json.load(said)
    found = {"wall": end - start, "sweeps": summary["seconds"], "bytes": size(file), "device": summary["device"],
             "commit": summary["commit"], "begin": (begun or end) - start, "end": end - (last or end)}
    remove(directory)
    return found


def dd(count, directory):
    """The rate [bytes/s] at which dd writes at least this many zeros."""
    blocks = max(count >> 22, 16)
    start = time.perf_counter()
    subprocess.run(["dd", "if=/dev/zero", f"of={directory / 'whole.dd'}", "bs=4M", f"count={blocks}", "status=none"], check=True)
    seconds = time.perf_counter() - start
    remove(directory)
    return (blocks << 22) / seconds


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0])
    parser.add_argument("program", nargs="+")
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--points", type=int, default=512)
    parser.add_argument("--sweeps", type=int, default=2000)
    parser.add_argument("--snapshots", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--place", default="/dev/shm")
    arguments = parser.parse_args()
    cases = [(arguments.points, arguments.sweeps, arguments.snapshots), (64, 10, 2)]

    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow("points sweeps snapshots program commit wall sweeps_s bytes dd left begin end device".split())
    with tempfile.TemporaryDirectory(dir=arguments.place) as place, tempfile.TemporaryDirectory() as configs:
        place = pathlib.Path(place)
        for case in cases:
            path = pathlib.Path(configs) / "whole.cfg"
            path.write_text(config(*case))
            runs = {program: [] for program in arguments.program}
            rates = []
            for repeat in range(arguments.repeats + 1):
                order = arguments.program if repeat % 2 else arguments.program[::-1]
                found = {program: run(program, arguments.backend, path, place) for program in order}
                rate = dd(found[order[0]]["bytes"], place)
                if repeat > 0:  # not the first: caches are cold
                    rates.append(rate)
                    for program in order:
                        runs[program].append(found[program])
            rate = statistics.median(rates)
            for program, taken in runs.items():
                middle = {key: statistics.median(one[key] for one in taken) for key in ("wall", "sweeps", "bytes", "begin", "end")}
                left = statistics.median(one["wall"] - one["sweeps"] - one["bytes"] / rate for one in taken)
                table.writerow([*case, program, taken[0]["commit"]] + [f"{n:.4g}" for n in (middle["wall"], middle["sweeps"])] +
                               [int(middle["bytes"])] + [f"{n:.4g}" for n in (rate, left, middle["begin"], middle["end"])] + [taken[0]["device"]])
                sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
