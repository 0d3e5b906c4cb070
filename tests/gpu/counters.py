#!/usr/bin/env python3
"""Prints the GPU's hardware counters for one launch of each kernel, in the middle of its warm-up, as CSV.

    tests/gpu/counters.py PROGRAM POINTS PRECISION [KERNEL ...] >>counters.csv

Needs ncu (Nsight Compute) and permission to read the counters. Without names it measures all kernels that bench has for
the case. Bytes and wavefronts are per point and sweep.
"""
import csv
import io
import json
import subprocess
import sys

METRICS = {
    "seconds": "gpu__time_duration.sum",
    "dram_read": "dram__bytes_read.sum",
    "dram_written": "dram__bytes_write.sum",
    "l2_read": "lts__t_sectors_srcunit_tex_op_read.sum",
    "l2_written": "lts__t_sectors_srcunit_tex_op_write.sum",
    "wavefronts": "l1tex__data_pipe_lsu_wavefronts.sum",
    "instructions": "smsp__inst_executed.sum",
    "dram_share": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "l2_share": "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "l1_share": "l1tex__throughput.avg.pct_of_peak_sustained_elapsed",
    "issue_share": "sm__inst_issued.avg.pct_of_peak_sustained_elapsed",
    "warps_share": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "stall_memory": "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",
    "stall_barrier": "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio",
    "stall_shared": "smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio",
    "stall_mio": "smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio",
    "stall_lsu": "smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio",
    "stall_fixed": "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio",
    "stall_math": "smsp__average_warps_issue_stalled_math_pipe_throttle_per_issue_active.ratio",
}
SKIP = 6  # launches: those of the proof, and the first of the warm-up


def bench(program, points, precision, *more):
    dims = str(points.count("x") + 1)
    command = [program, "bench", "--backend", "cuda", "--dims", dims, "--points", points]
    return command + ["--precision", precision, "--repeats", "3", *more]


def kernels(program, points, precision):
    small = "x".join(["96"] * (points.count("x") + 1))
    out = subprocess.run(bench(program, small, precision, "--json"), capture_output=True, text=True, check=True)
    return [(row["kernel"], row["steps"]) for row in json.loads(out.stdout)["kernels"]]


def profile(program, points, precision, kernel):
    command = ["ncu", "--csv", "--print-units", "base", "--clock-control", "none", "--kill", "yes"]
    command += ["--launch-skip", str(SKIP), "--launch-count", "1", "--metrics", ",".join(METRICS.values())]
    out = subprocess.run(
        command + bench(program, points, precision, "--kernel", kernel), capture_output=True, text=True, timeout=120
    )
    lines = [line for line in out.stdout.splitlines() if line.startswith('"')]
    found = {row["Metric Name"]: row["Metric Value"] for row in csv.DictReader(io.StringIO("\n".join(lines)))}
    if not found:
        raise RuntimeError((out.stdout + out.stderr).strip().splitlines()[-1])
    return {key: float(found[name].replace(",", "")) if name in found else None for key, name in METRICS.items()}


def per_point(values, points, steps):
    updates = float(steps)
    for n in points.split("x"):
        updates *= int(n)
    for key in ("dram_read", "dram_written", "l2_read", "l2_written", "wavefronts", "instructions"):
        if values[key] is not None:
            values[key] *= (32 if key.startswith("l2") or key == "instructions" else 1) / updates
    values["seconds"] *= 1e-9
    values["gcells"] = updates / values["seconds"] * 1e-9
    return values


def main():
    program, points, precision = sys.argv[1:4]
    if "x" not in points and "," not in points:
        points = "x".join([points] * 3)
    points = points.replace(",", "x")
    known = dict(kernels(program, points, precision))
    print("kernel,points,precision,steps,gcells," + ",".join(METRICS), flush=True)
    for kernel in sys.argv[4:] or known:
        try:
            values = per_point(profile(program, points, precision, kernel), points, known[kernel])
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            print(f"{kernel}: {error}", file=sys.stderr)
            continue
        numbers = ["" if values[key] is None else f"{values[key]:.5g}" for key in ["gcells", *METRICS]]
        print(f"{kernel},{points},{precision},{known[kernel]}," + ",".join(numbers), flush=True)


if __name__ == "__main__":
    main()
