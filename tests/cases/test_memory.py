"""Wherever memory runs out, the program ends with a message and exit code 4 (or 3), and keeps what was written."""

import json
import os
import random
import shutil
import subprocess
import sys

import h5py
import numpy as np
import pytest
from program import HEATSOLVE, heatsolve, must

FAULTS = int(os.environ.get("HEATSOLVE_MALLOC_FAULTS", "16"))  # per command; set more for a long test

CASE = """
title = "memory";
grid = { points = [9, 8, 7]; spacing = 0.01; };
material = { diffusivity = 1e-4; };
initial = { file = "in.h5"; dataset = "T"; regions = ( { shape = "box"; lower = [0, 0, 0]; upper = [0.02, 0.02, 0.02]; value = "3+x"; } ); };
source = { file = "in.h5"; dataset = "q"; };
boundary = { all = { type = "dirichlet"; value = "20+t"; }; };
time = { sweeps = 20; step = 0.1; };
output = { file = "run.h5"; every = 5; history_every = 2; };
solver = { backend = "cpu"; threads = 1; };
checkpoint = { every_minutes = 1e-6; };
probes = ( { name = "core"; at = [0.03, 0.03, 0.03]; } );
"""
pytestmark = pytest.mark.skipif("coverage" in HEATSOLVE, reason="what counts lines takes memory of its own")
COMMANDS = {
    # no sweeps: then no time is measured, so the number of allocations is always the same
    "check": ["check", "case.cfg", "--set", "time.sweeps=0"],
    "run": ["run", "case.cfg", "--quiet"],
    "resume": ["run", "case.cfg", "--quiet", "--resume", "--set", "time.sweeps=30"],
    "render": ["render", "run.h5", "-o", "picture.png"],
}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A case with its input, and a finished run of it in the same folder."""
    directory = tmp_path_factory.mktemp("prepared")
    (directory / "case.cfg").write_text(CASE)
    with h5py.File(directory / "in.h5", "w") as f:
        f["T"] = np.full((7, 8, 9), 20.0)
        f.create_dataset("q", data=np.full((7, 8, 9), 1.0), compression=1)
    must(directory, *COMMANDS["run"])
    return directory


def start(prepared, library, directory, command, **variables):
    """Runs the command in a fresh copy."""
    shutil.rmtree(directory, ignore_errors=True)
    shutil.copytree(prepared, directory)
    if command == "run":
        (directory / "run.h5").unlink()
        (directory / "run.xdmf").unlink()
    environment = {**os.environ, "LD_PRELOAD": str(library)}
    environment.update({f"FAULT_{key.upper()}": str(value) for key, value in variables.items()})
    return heatsolve(directory, *COMMANDS[command], env=environment, timeout=300)


def allocations(prepared, library, directory, command, **variables):
    result = start(prepared, library, directory, command, mallocs=directory.parent / "count", **variables)
    assert result.returncode == 0, result.stderr
    return int((directory.parent / "count").read_text())


def assert_told(result, directory, expected, *where):
    """Exit 4, or 3 if only writing something failed; a message; and whole snapshots in the file."""
    assert result.returncode in (0, 3, 4), (where, result.returncode, result.stderr)
    assert result.returncode == 0 or "heatsolve: " in result.stderr, (where, result.stderr)
    if (directory / "run.h5").exists():
        with h5py.File(directory / "run.h5") as f:
            count = min(len(f["time"]), len(expected))
            assert count >= 1 and np.array_equal(f["temperature"][:count], expected[:count]), where


@pytest.mark.parametrize("lasting", [0, 1], ids=["one", "all from then on"])
@pytest.mark.parametrize("command", COMMANDS)
def test_an_allocation_that_fails_is_told(prepared, library, tmp_path, command, lasting):
    with h5py.File(prepared / "run.h5") as f:
        expected = f["temperature"][:]
    work = tmp_path / "work"
    total = allocations(prepared, library, work, command)
    chosen = random.Random(f"{command} {lasting}")
    for n in sorted(chosen.sample(range(1, total + 1), min(FAULTS, total))):
        result = start(prepared, library, work, command, malloc=n, malloc_on=lasting)
        assert_told(result, work, expected, command, n)


@pytest.mark.parametrize("command", ["check", "run"])
def test_a_large_request_that_fails_is_told(library, tmp_path, command):
    """Requests of 16 MiB and more are for fields. Each of them in turn gets NULL, and the message names its purpose."""
    prepared = tmp_path / "prepared"
    prepared.mkdir()
    shape = (1100, 2100)
    (prepared / "case.cfg").write_text(
        CASE.replace("[9, 8, 7]", str(list(shape[::-1]))).replace(", 0.02]", "]").replace("[0, 0, 0]", "[0, 0]")
        .replace("0.03, 0.03, 0.03", "0.03, 0.03").replace("sweeps = 20", "sweeps = 2").replace("checkpoint", "// checkpoint")
    )
    with h5py.File(prepared / "in.h5", "w") as f:
        f["T"] = np.full(shape, 20.0)
        f.create_dataset("q", data=np.full(shape, 1.0), chunks=shape, compression=1)
    must(prepared, *COMMANDS["run"])
    with h5py.File(prepared / "run.h5") as f:
        expected = f["temperature"][:]
    work = tmp_path / "work"
    failed = 0
    total = allocations(prepared, library, work, command, malloc_least=1 << 24)
    for n in range(1, total + 1):
        result = start(prepared, library, work, command, malloc=n, malloc_least=1 << 24)
        assert_told(result, work, expected, command, n)
        failed += result.returncode != 0
    assert failed >= 5


MEASURED = 'measured = { conductivity = { file = "k.npy"; }; capacity = { file = "c.npy"; }; };'
LAUNCHER = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[1:])
sys.stderr.write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(code)
"""


@pytest.mark.skipif("sanitize" in HEATSOLVE, reason="a sanitizer holds on to what is freed")
@pytest.mark.parametrize("precision", ["float", "double"])
def test_check_knows_what_a_measured_body_takes(tmp_path, precision):
    """Its numbers, and the network made from them, are kept in addition to what sweeps use."""
    points, draw = 72, np.random.default_rng(3)
    np.save(tmp_path / "k.npy", draw.uniform(1.0, 2.0, (points,) * 3))
    np.save(tmp_path / "c.npy", draw.uniform(1e6, 2e6, (points,) * 3))

    def peak(command, points):
        (tmp_path / "case.cfg").write_text(f"""
precision = "{precision}";
grid = {{ points = [{points}, {points}, {points}]; upper = [1.0, 1.0, 1.0]; }};
{MEASURED if points > 9 else "material = {diffusivity = 1e-6;};"}
initial = {{ value = 1.0; }};
boundary = {{ all = {{ type = "reflective"; }}; }};
time = {{ sweeps = 3; }};
solver = {{ backend = "cpu"; threads = 1; }};
output = {{ file = "run.h5"; overwrite = true; }};
""")
        # started by a small process: a child's peak includes the memory of the process it was forked from
        done = subprocess.run([sys.executable, "-c", LAUNCHER, HEATSOLVE, *command, "case.cfg"], cwd=tmp_path, capture_output=True, text=True, check=True)
        return done.stdout, 1024 * int(done.stderr)

    alone = peak(["run", "--quiet"], 9)[1]
    taken = peak(["run", "--quiet"], points)[1] - alone
    told = json.loads(peak(["check", "--json"], points)[0])["memory_bytes"]
    assert taken - (10 << 20) <= told <= taken + (10 << 20)  # fields end on a large page, and files have buffers
