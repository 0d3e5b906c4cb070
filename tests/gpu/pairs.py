"""Compares the kernels of two programs in turns: the ratio of their rates for every row of bench.

usage: pairs.py BEFORE AFTER [--least 0.98] [--quick] >pairs.csv

Each bench command runs with one program and then with the other, so the two rates of a ratio are from the same minute
and the same device. A row below --least is measured again, up to twice, and keeps its best ratio: the rates of one
program scatter by one or two percent. Exit 1 if a row stays below.
"""

import argparse
import csv
import subprocess
import sys

GRIDS = [
    ["--points", "512"],
    ["--dims", "2", "--points", "16384"],
    ["--points", "256"],
    ["--dims", "1", "--points", "268435456"],
    ["--points", "64"],
    ["--dims", "2", "--points", "1024"],
    ["--points", "128"],
    ["--points", "512", "--radius", "2"],
    ["--points", "509,511,513", "--except", "shared_tile,coarsened,register_tile,march_halo,temporal_3d"],
]
MORE = [
    ["--dims", "2", "--points", "4096"],
    ["--points", "512", "--radius", "3"],
    ["--points", "1024", "--except", "shared_tile,coarsened,register_tile,march_halo,temporal_3d"],
]


def rates(program, arguments):
    """(kernel, fields) -> GCell/s, from the rows of bench that are proven"""
    command = [program, "bench", "--backend", "cuda", "--csv", "--repeats", "5", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
    rows = csv.DictReader(done.stdout.splitlines())
    return {(row["kernel"], row["fields"]): float(row["gcells"]) for row in rows if row["proven"] == "1"}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--least", type=float, default=0.98)
    parser.add_argument("--quick", action="store_true", help="leave out the grids that take longest")
    options = parser.parse_args()
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["kernel", "fields", "precision", "grid", "before", "after", "ratio", "runs"])
    low = []
    for grid in GRIDS + ([] if options.quick else MORE):
        for precision in ("float", "double"):
            arguments = ["--precision", precision, *grid]
            best, again = {}, set()
            for seen in range(1, 4):
                asked = arguments
                if again:  # only the kernels that were below
                    cut = asked.index("--except") if "--except" in asked else len(asked)
                    asked = [*asked[:cut], "--kernel", ",".join(sorted({kernel for kernel, _ in again}))]
                old, new = rates(options.before, asked), rates(options.after, asked)
                for row in old.keys() & new.keys():
                    ratio = new[row] / old[row]
                    if row not in best or ratio > best[row][2]:
                        best[row] = (old[row], new[row], ratio)
                again = {row for row, found in best.items() if found[2] < options.least}
                if not again:
                    break
            for (kernel, fields), found in sorted(best.items()):
                table.writerow([kernel, fields, precision, " ".join(grid[:4]), f"{found[0]:.5g}", f"{found[1]:.5g}", f"{found[2]:.4f}", seen])
            low += [(*row, precision, *grid[:4]) for row in again]
            sys.stdout.flush()
    for row in low:
        print("below:", *row, file=sys.stderr)
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main())
