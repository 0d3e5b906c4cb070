"""Runs the program with tests/tools/fault.c preloaded, and reads the files that are left."""

import os
import pathlib
import subprocess

import h5py
import pytest
from program import HEATSOLVE, columns, heatsolve

SOURCE = pathlib.Path(__file__).resolve().parents[1] / "tools" / "fault.c"
SANITIZED = "sanitize" in HEATSOLVE

CONFIG = """
title = "crash";
precision = "{precision}";
grid = {{ points = {points}; spacing = 0.01; }};
material = {{ diffusivity = 1e-4; }};
initial = {{ expression = "100*sin(40*x)"; }};
boundary = {{ all = {{ type = "dirichlet"; value = "20+t"; }}; }};
time = {{ sweeps = {sweeps}; step = 0.1; }};
output = {{ file = "out/run.h5"; every = {every}; history_every = {history_every}; compression = {compression}; }};
solver = {{ threads = 1; }};
probes = ( {{ name = "core"; at = {at}; }} );
"""


def write_config(directory, points=(9, 8, 7), sweeps=40, every=5, precision="double", compression=0, history_every=None):
    """Writes case.cfg. history_every: by default so rare in long runs that a small disk has room for their needs."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "case.cfg"
    path.write_text(
        CONFIG.format(
            points=list(points),
            sweeps=sweeps,
            every=every,
            precision=precision,
            compression=compression,
            history_every=history_every or max(2, sweeps // 10**6),
            at=[0.03] * len(points),
        )
    )
    return path


def build(directory):
    """Compiles the preloaded library; skips the test under the sanitizers, whose own library must be loaded first."""
    if SANITIZED:
        pytest.skip("a sanitizer's library must be the first that is loaded")
    library = directory / "fault.so"
    compiler = os.environ.get("CC", "cc").split()
    subprocess.run([*compiler, "-shared", "-fPIC", "-O1", "-o", library, SOURCE, "-ldl"], check=True)
    return library


def run(directory, *arguments, library=None, command="run", **faults):
    """`heatsolve run case.cfg --quiet ...` in `directory`; other commands get no --quiet."""
    environment = dict(os.environ)
    if library:
        environment["LD_PRELOAD"] = str(library)
        environment["FAULT_MATCH"] = "out/run"
        environment.update({f"FAULT_{key.upper()}": str(value) for key, value in faults.items()})
    quiet = ["--quiet"] if command == "run" else []
    return heatsolve(directory, command, "case.cfg", *quiet, *arguments, env=environment, timeout=300)


def datasets(path):
    """Every dataset of a file, read whole, by name."""
    with h5py.File(path, "r") as f:
        found = columns(f)
        # the same dataset has another name, and h5py visits each only once
        found["temperature"] = f["temperature"][()]
        found.pop("VTKHDF/PointData/temperature", None)
    return found
