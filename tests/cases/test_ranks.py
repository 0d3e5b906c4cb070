"""Runs on several ranks, by mpirun: the file of one rank, bit for bit; resume on another number; signals, errors and
killed ranks. (tests/unit/engine/test_slabs.c has the many cases; what is here goes through MPI.)
"""

import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import tempfile
import time

import h5py
import numpy as np
import pytest
from helpers import config
from program import HEATSOLVE, columns, heatsolve, must
from random_body import Body

PROGRAM = pathlib.Path(HEATSOLVE).with_name("heatsolve-mpi")
MPIRUN = shutil.which("mpirun")
pytestmark = pytest.mark.skipif(not (MPIRUN and PROGRAM.exists()), reason="no mpirun, or no heatsolve-mpi (make MPI=yes)")
ENVIRONMENT = {
    **os.environ,
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMP_NUM_THREADS": "1",
    # Where ranks fail, mpirun gives those that are left no 2 s to end: they end together.
    "OMPI_MCA_odls_base_sigkill_timeout": "0",
    # Open MPI leaves memory of its own behind, in modules that are closed by the end
    "ASAN_OPTIONS": "detect_leaks=0",
}
USUAL = ("--mca", "odls_base_sigkill_timeout", "1")
LIMIT = 120  # s: of what takes one; a hang fails by it

PLATE = {
    "grid": {"points": [40, 61], "upper": [1.0, 1.0]},
    "material": {"diffusivity": 1e-4},
    "initial": {"expression": "300+20*sin(5*x)*cos(7*y)"},
    "boundary": {
        "x_min": {"type": "dirichlet", "value": "310+5*sin(9*y+t)"},
        "x_max": {"type": "reflective"},
        "y_min": {"type": "periodic"},
        "y_max": {"type": "periodic"},
    },
    "source": {"expression": "1e-3*exp(-30*(x-0.5)^2-30*(y-0.5-0.01*t)^2)"},
}
BLOCK = {
    "grid": {"points": [21, 18, 25], "upper": [1.0, 1.0, 1.0]},
    "material": {"conductivity": 2.0, "density": 1e3, "specific_heat": 4.0},
    "precision": "float",
    "initial": {"expression": "300+20*sin(5*x)*cos(7*y+2*z)"},
    "boundary": {"z_min": {"type": "robin", "h": 20.0, "ambient": "280+z"}, "y_max": {"type": "neumann", "flux": "30*z"}},
    "probes": [{"name": "middle", "at": [0.5, 0.5, 0.5]}],
}
BODY = {
    "grid": {"points": [17, 16, 23], "upper": [1.0, 1.0, 1.0]},
    "materials": [
        {"name": "a", "conductivity": 2.0, "density": 1e3, "specific_heat": 4.0},
        {"name": "b", "conductivity": 0.1, "density": 1e3, "specific_heat": 4.0, "source": "10*t"},
    ],
    "body": [{"material": "a"}, {"material": "b", "shape": "sphere", "centre": [0.5, 0.4, 0.5], "radius": 0.3}],
    "initial": {"value": 300.0},
    "boundary": {
        "x_min": {"type": "dirichlet", "value": "310+sin(9*z-0.01*t)"},
        "z_max": {"type": "robin", "h": 9.0, "ambient": 280.0},
    },
}


# what its materials sink is asked of the whole field
PERFUSED = {
    **BODY,
    "materials": [BODY["materials"][0], {**BODY["materials"][1], "perfusion": {"rate": 50.0, "reference": "310+0.1*t"}}],
}

# and convection by two tables, at walls of several ranks and of one
WINDY = {
    **PERFUSED,
    "boundary": {
        "x_min": {"type": "robin", "h_table": "wind.csv", "ambient": "310+0.1*t"},
        "z_max": {"type": "robin", "h_table": "fan.csv", "h_file": "along.npy", "ambient": 280.0},
    },
}


def write(directory, case, **more):
    (directory / "wind.csv").write_text("0 9\n20 90\n50 0\n")
    (directory / "fan.csv").write_text("0 5\n30 0\n60 50\n")
    np.save(directory / "along.npy", np.linspace(1.0, 2.0, 16 * 17).reshape(16, 17))
    settings = {**case, **more}
    settings["solver"] = {"backend": "cpu", **settings.get("solver", {})}
    (directory / "case.cfg").write_text(config(settings))


def start(directory, ranks, *arguments, program=PROGRAM, launcher=()):
    return subprocess.Popen(
        [MPIRUN, *launcher, "--oversubscribe", "-n", str(ranks), program, *arguments],
        cwd=directory,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait(process):
    try:
        out, err = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def launch(directory, ranks, *arguments, **how):
    return wait(start(directory, ranks, *arguments, **how))


def run(directory, ranks, output, *arguments):
    done = launch(directory, ranks, "run", "case.cfg", "--quiet", "--output", output, *arguments)
    assert done.returncode == 0, done.stderr
    return directory / output


def alone(directory, output, *arguments):
    must(directory, "run", "case.cfg", "--quiet", "--output", output, *arguments, env=ENVIRONMENT, timeout=LIMIT)
    return directory / output


def datasets(path):
    with h5py.File(path) as file:
        return columns(file)


def assert_same(one, other):
    a, b = datasets(one), datasets(other)
    assert a.keys() == b.keys()
    different = [name for name in a if a[name].shape != b[name].shape or a[name].tobytes() != b[name].tobytes()]
    assert not different


def our_lines(text):
    return [line for line in text.splitlines() if line.startswith("heatsolve")]


# ---- the file of one rank ----------------------------------------------------------------------


@pytest.mark.parametrize("case", [PLATE, BLOCK, BODY, WINDY], ids=["plate", "block", "body", "windy"])
@pytest.mark.parametrize("kernel", ["auto", "wavefront"])
def test_any_number_of_ranks_writes_the_same_file(tmp_path, case, kernel):
    if case in (BODY, WINDY):
        kernel = "auto" if kernel == "auto" else "conduction_wavefront" if case is BODY else "reference"
    write(tmp_path, case, time={"sweeps": 53}, output={"every": 9, "history_every": 4}, solver={"kernel": kernel})
    one = alone(tmp_path, "one.h5")
    for ranks in (1, 2, 5):
        assert_same(one, run(tmp_path, ranks, f"{ranks}.h5"))


@pytest.mark.parametrize("case", [PLATE, BLOCK, BODY, PERFUSED, WINDY], ids=["plate", "block", "body", "perfused", "windy"])
@pytest.mark.parametrize("more", [{}, {"tolerance": 0.5}], ids=["whole", "cut"])
def test_steps_of_many_sweeps_too(tmp_path, case, more):
    write(tmp_path, case, time={"end": 60.0, "step": 12.0, "method": "rkl2", **more}, output={"interval": 30.0})
    one = alone(tmp_path, "one.h5")
    flows = {name: values for name, values in datasets(one).items() if name.startswith(("history/flux", "history/imbalance"))}
    assert len(flows) > 1 and all(np.isfinite(values[1:]).all() for values in flows.values())
    for ranks in (2, 3):
        assert_same(one, run(tmp_path, ranks, f"{ranks}.h5"))


def test_h5diff_finds_no_difference(tmp_path):
    for ranks in (1, 2, 5):
        (tmp_path / str(ranks)).mkdir()
        write(tmp_path / str(ranks), BLOCK, time={"sweeps": 20}, output={"every": 5})
        run(tmp_path / str(ranks), ranks, "a.h5")
    of_the_run = ("device", "started", "sweep_seconds", "wall_seconds")  # not of its result
    expected = [f"attribute: <{name} of </>> and <{name} of </>>" for name in of_the_run]
    for other in ("2", "5"):
        done = subprocess.run(["h5diff", "1/a.h5", f"{other}/a.h5"], cwd=tmp_path, capture_output=True, text=True)
        told = [line for line in done.stdout.splitlines() if not line.endswith("differences found")]
        assert set(told) <= set(expected), done.stdout


# ---- who writes ---------------------------------------------------------------------------------


def bytes_written(process):
    """By all its calls of write() and pwrite()."""
    return int(pathlib.Path(f"/proc/{process}/io").read_text().split("wchar:")[1].split()[0])


def fields_of(path):
    with h5py.File(path) as file:
        return len(file["temperature"])


# 100 MB in three chunks of 33 MB. Of two ranks each begins one or two, of seven only some; the rest comes from others.
CHUNKS = {
    "grid": {"points": [5000, 5000], "upper": [1.0, 1.0]},
    "material": {"diffusivity": 1e-4},
    "precision": "float",
    "initial": {"expression": "300+20*x*y"},
}


@pytest.mark.parametrize("case, every", [({**PLATE, "grid": {"points": [600, 900], "upper": [1.0, 1.0]}}, 200), (CHUNKS, 1)], ids=["plain", "compressed"])
def test_each_rank_writes_what_it_has(tmp_path, case, every):
    """Its part of each field of 4 MB; compressed, the chunks that begin on it. MPI's own bytes do not go by write()."""
    packs = case is CHUNKS
    least = 2e6 if packs else 8 * 600 * 900 / 3  # of a field: the least that such a chunk was seen to take
    write(tmp_path, case, time={"sweeps": 8000}, output={"every": every, "compression": int(packs)})
    process = start(tmp_path, 3, "run", "case.cfg", "--quiet", "--output", "a.h5")
    try:
        while not (tmp_path / "a.h5").exists() or fields_of(tmp_path / "a.h5") < 3:
            time.sleep(0.05)
            assert process.poll() is None, process.communicate()
        found = [bytes_written(rank) for rank in ranks_of(process)]
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    assert len(found) == 3
    assert all(bytes_ > 2 * least for bytes_ in found), found


@pytest.mark.parametrize("ranks", [2, 7])
def test_chunks_that_ranks_compress_are_those_of_one(tmp_path, ranks):
    write(tmp_path, CHUNKS, time={"sweeps": 1}, output={"compression": 1})
    assert_same(alone(tmp_path, "one.h5"), run(tmp_path, ranks, "many.h5"))
    sizes = []
    for name in ("one.h5", "many.h5"):
        with h5py.File(tmp_path / name) as file:
            chunks = file["temperature"].id
            sizes.append([chunks.get_chunk_info(n).size for n in range(chunks.get_num_chunks())])
    assert sizes[0] == sizes[1] and len(sizes[0]) == 6 and max(sizes[0]) < 5e6


def test_what_a_rank_has_of_a_chunk_may_be_several_pieces(tmp_path):
    """26 MB, which is one chunk, on two ranks, each of which writes 4 MB at a time."""
    write(tmp_path, PLATE, grid={"points": [1800, 1800], "upper": [1.0, 1.0]}, time={"sweeps": 1})
    assert_same(alone(tmp_path, "one.h5"), run(tmp_path, 2, "two.h5"))


@pytest.mark.parametrize("compression", [0, 2])
def test_where_rank_0_writes_for_all_the_file_is_the_same(tmp_path, compression):
    """A rank in another directory does not see the file."""
    write(tmp_path, BLOCK, time={"sweeps": 60}, output={"every": 20, "compression": compression})
    other = tmp_path / "other"
    other.mkdir()
    shutil.copy(tmp_path / "case.cfg", other)
    command = ("run", "case.cfg", "--quiet", "--output", "two.h5")
    done = launch(tmp_path, 1, *command, ":", "-n", "1", "-wdir", str(other), str(PROGRAM), *command)
    assert done.returncode == 0, done.stderr
    assert not (other / "two.h5").exists()
    assert_same(alone(tmp_path, "one.h5"), tmp_path / "two.h5")


@pytest.mark.parametrize("packs", [False, True], ids=["plain", "compressed"])
def test_a_rank_that_cannot_write_is_said_once(tmp_path, packs):
    """Rank 1 alone has a limit on the size of files."""
    limited = tmp_path / "limited"
    limited.write_text(f'#!/bin/sh\nulimit -f 18000\nexec {PROGRAM} "$@"\n')
    limited.chmod(0o755)
    write(tmp_path, CHUNKS if packs else BLOCK, time={"sweeps": 40000}, output={"every": 1 if packs else 100, "compression": int(packs)})
    command = ("run", "case.cfg", "--quiet", "--output", "a.h5")
    done = launch(tmp_path, 1, *command, ":", "-n", "1", str(limited), *command)
    assert done.returncode == 3, done.stderr
    lines = our_lines(done.stderr)
    assert sum("rank 1: a.h5: cannot write" in line and "ulimit -f" in line for line in lines) == 1 and len(lines) <= 2, done.stderr
    assert fields_of(tmp_path / "a.h5") > (0 if packs else 10)


# ---- numbers of files ----------------------------------------------------------------------------

POINTS = (25, 18, 21)  # BLOCK's, slowest first
WALLS = {**BLOCK["boundary"], "x_min": {"type": "dirichlet", "value": "290+9*z"}, "z_max": {"type": "fixed"}}
PERIODIC = {"z_min": {"type": "periodic"}, "z_max": {"type": "periodic"}}
REGIONS = [
    {"shape": "sphere", "centre": [0.5, 0.4, 0.5], "radius": 0.3, "value": 350.0},
    {"shape": "box", "lower": [0.2, 0.1, 0.4], "upper": [0.9, 0.5, 0.9], "value": "310+5*x"},
]
BODY_HERE = {**BODY, "grid": BLOCK["grid"]}
MEASURED = {key: value for key, value in BODY_HERE.items() if key not in ("materials", "body")}
LINE = {
    "grid": {"points": [901], "upper": [1.0]},
    "material": {"diffusivity": 1e-4},
    "boundary": {"x_min": {"type": "periodic"}, "x_max": {"type": "periodic"}},
}


def of_file(dataset):
    return {"file": "in.h5", "dataset": dataset}


FROM_FILES = {
    "initial": {**BLOCK, "boundary": WALLS, "initial": {"file": "T.npy", "regions": REGIONS}},
    "chunks, a step, periodic": {**BLOCK, "boundary": PERIODIC, "initial": {**of_file("T"), "step": 1, "regions": REGIONS}},
    "fortran order": {**BLOCK, "boundary": PERIODIC, "initial": {"file": "turned.npy"}},
    "source": {**BLOCK, "boundary": WALLS, "source": of_file("q")},
    "source of a body": {**BODY_HERE, "source": of_file("q"), "initial": {"file": "T.npy"}},
    "labels of nodes": {**BODY_HERE, "body": [{**of_file("nodes"), "names": ["a", "b"]}]},
    "labels of cells": {**BODY_HERE, "body": [{**of_file("cells"), "names": ["a", "b"]}]},
    "measured": {**MEASURED, "measured": {"conductivity": of_file("k"), "capacity": of_file("c")}},
    # the region reaches over both ends of a slab, but not over its middle
    "a region on a ring": {**LINE, "initial": {"value": 300.0, "regions": [
        {"shape": "box", "lower": [0.45], "upper": [0.9975], "value": "320+x"}]}},
    "a line": {**LINE, "initial": {"file": "line.npy"}},
}


def write_fields(directory):
    random_numbers = np.random.default_rng(1)

    def some(*shape):
        return random_numbers.random(shape or POINTS)

    np.save(directory / "T.npy", 300 + 20 * some())
    np.save(directory / "turned.npy", np.asfortranarray(300 + 20 * some()))
    np.save(directory / "line.npy", 300 + 20 * some(901))
    with h5py.File(directory / "in.h5", "w") as file:
        file.create_dataset("T", data=(300 + 20 * some(3, *POINTS)).astype("f4"), chunks=(1, 4, 6, 7), compression=1)
        file["q"] = 1e3 * some()
        file["nodes"] = (some() < 0.4).astype("u1")
        file["cells"] = (some(*(n - 1 for n in POINTS)) < 0.4).astype("u1")
        file["k"], file["c"] = 1 + some(), 4e6 * (1 + some())


@pytest.mark.parametrize("name", FROM_FILES)
def test_numbers_of_files_are_as_on_one_rank(tmp_path, name):
    write_fields(tmp_path)
    write(tmp_path, FROM_FILES[name], time={"sweeps": 40}, output={"every": 9, "history_every": 4})
    one = alone(tmp_path, "one.h5")
    for ranks in (2, 5):
        other = run(tmp_path, ranks, f"{ranks}.h5")
        assert_same(one, other)
        with h5py.File(one) as a, h5py.File(other) as b:
            assert a.attrs["fingerprint"] == b.attrs["fingerprint"]


# ---- the network of a body, which ranks make together ---------------------------------------------

# seeds of bodies in 3D; a ring: a periodic axis
BODIES = {"shapes on two rings": 0, "shapes, stretched": 5, "shapes on a ring": 9, "cells on a ring": 11, "nodes, stretched": 38,
          "nodes on a ring": 40}


@pytest.mark.parametrize("name", BODIES)
def test_ranks_make_a_network_together(tmp_path, name):
    """Its longest step, balance and fluxes too have the bits of one rank."""
    Body(BODIES[name], tmp_path, nodes=(7, 14))
    one = alone(tmp_path, "one.h5", "--set", 'solver.backend="cpu"')
    assert_same(one, run(tmp_path, 2 + BODIES[name] % 3, "other.h5", "--set", 'solver.backend="cpu"'))


def grown(count):
    return [0.01 * i + 0.0001 * i**2 for i in range(count)]


FORMS = {  # the shape, slowest first, and how nodes say which row is theirs
    "the same row": ((24, 11, 12), "1-byte indices"),
    "hundreds of rows": ((24, 11, 12), "2-byte indices"),
    "rows of their own": ((42, 41, 42), "each with its own coefficients"),
    "a plate": ((140, 30), "2-byte indices"),
}


@pytest.mark.parametrize("name", FORMS)
def test_ranks_agree_on_the_form_of_a_network(tmp_path, name):
    shape, told = FORMS[name]
    kinds = 1 if name == "the same row" else 4
    np.save(tmp_path / "labels.npy", np.random.default_rng(2).integers(0, kinds, [n - 1 for n in shape], dtype="u1"))
    axes = {"xyz"[a]: grown(n) for a, n in enumerate(reversed(shape))}
    grid = axes if name == "rows of their own" else {"points": shape[::-1], "upper": [1.0] * len(shape)}
    names = [f"m{n}" for n in range(4)]
    write(tmp_path, {
        "grid": grid, "initial": {"expression": "300+x"}, "body": [{"file": "labels.npy", "names": names}],
        "materials": [{"name": m, "conductivity": 3.0**n, "density": 1e3, "specific_heat": 4.0 + n} for n, m in enumerate(names)],
        "boundary": {"x_min": {"type": "dirichlet", "value": 310.0}},
    }, time={"sweeps": 20})
    one = alone(tmp_path, "one.h5")
    for ranks in (2, 3):
        assert_same(one, run(tmp_path, ranks, f"{ranks}.h5"))
    assert told in launch(tmp_path, 2, "check", "case.cfg").stdout


def test_a_hole_is_said_once_and_as_by_one_rank(tmp_path):
    """Of the first node that has none, whichever rank makes it."""
    hole = [{"material": "a", "shape": "box", "lower": [0.0, 0.0, 0.0], "upper": [1.0, 1.0, 0.4]}]
    write(tmp_path, {**BODY, "body": hole + BODY["body"][1:]}, time={"sweeps": 4})
    done = launch(tmp_path, 3, "run", "case.cfg", "--output", "a.h5")
    one = heatsolve(tmp_path, "run", "case.cfg", "--output", "a.h5")
    assert done.returncode == one.returncode == 2
    assert our_lines(done.stderr) == our_lines(one.stderr) and "no material there" in one.stderr
    assert len(our_lines(one.stderr)) == 1 and not (tmp_path / "a.h5").exists()


@pytest.mark.parametrize("of", ["initial", "source", "body"])
def test_a_bad_number_of_a_file_is_said_once_with_its_node(tmp_path, of):
    write_fields(tmp_path)
    case = {"initial": "initial", "source": "source", "body": "labels of nodes"}[of]
    with h5py.File(tmp_path / "in.h5", "a") as file:
        values = file["nodes" if of == "body" else "q"][...]
        values[20, 3, 4] = 7 if of == "body" else np.nan
        file["bad"] = values
    bad = {"initial": of_file("bad"), "source": of_file("bad"), "body": [{**of_file("bad"), "names": ["a", "b"]}]}
    write(tmp_path, {**FROM_FILES[case], of: bad[of]}, time={"sweeps": 40})
    done = launch(tmp_path, 3, "run", "case.cfg", "--output", "a.h5")
    one = heatsolve(tmp_path, "run", "case.cfg", "--output", "a.h5")
    assert done.returncode == one.returncode == 2
    assert our_lines(done.stderr) == our_lines(one.stderr) and len(our_lines(one.stderr)) == 1
    assert ("7 (1 node)" if of == "body" else "not a number (NaN) at node (4, 3, 20)") in one.stderr


# Nodes that 4 ranks share: a field of doubles is 34 MB, of which a rank owns 8.
LARGE = {**BLOCK, "precision": "double", "grid": {"points": [128, 128, 256], "upper": [1.0, 1.0, 2.0]},
         "initial": {"value": 300.0}}
LARGE_BODY = {**BODY, "grid": LARGE["grid"]}
FIELD = 128 * 128 * 256 * 8


measures_memory = pytest.mark.skipif("sanitize" in HEATSOLVE, reason="a sanitizer holds on to what is freed")


def most_memory(directory, case, *arguments):
    """Bytes that each of 4 ranks takes at most [VmHWM], of a run into a.h5."""
    measured = directory / "measured"
    measured.write_text(
        "#!/usr/bin/env python3\nimport os, resource, subprocess, sys\n"
        f"code = subprocess.call(['{PROGRAM}', *sys.argv[1:]], close_fds=False)\n"  # MPICH's ranks have one to its launcher
        "most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss\n"
        "open('most.' + os.environ['OMPI_COMM_WORLD_RANK'], 'w').write(str(most))\nsys.exit(code)\n"
    )
    measured.chmod(0o755)
    write(directory, case, time={"sweeps": 4})
    done = launch(directory, 4, "run", "case.cfg", "--quiet", "--output", "a.h5", *arguments, program=measured)
    assert done.returncode == 0, done.stderr
    return np.array([1024 * int((directory / f"most.{rank}").read_text()) for rank in range(4)])


@pytest.fixture(scope="module")
def least(tmp_path_factory):
    """What each rank takes of a case that reads nothing, saves nothing and compares with nothing."""
    return most_memory(tmp_path_factory.mktemp("least"), LARGE)


@measures_memory
def test_no_rank_holds_a_whole_field(tmp_path, least):
    """Beside what the sweeps take: of a file some MB at a time; of a source its slab, twice."""
    values = 300 + 20 * np.random.default_rng(1).random((256, 128, 128))
    np.save(tmp_path / "T.npy", values)
    np.save(tmp_path / "nodes.npy", (values < 307).astype("u1"))
    initial = most_memory(tmp_path, {**LARGE, "initial": {"file": "T.npy"}})
    assert_same(tmp_path / "a.h5", alone(tmp_path, "one.h5"))
    source = most_memory(tmp_path, {**LARGE, "source": {"file": "T.npy"}}, "--overwrite")
    assert_same(tmp_path / "a.h5", alone(tmp_path, "one.h5", "--overwrite"))
    body = most_memory(tmp_path, {**LARGE_BODY, "body": [{"file": "nodes.npy", "names": ["a", "b"]}]}, "--overwrite")
    assert_same(tmp_path / "a.h5", alone(tmp_path, "one.h5", "--overwrite"))
    told = [(one - least) / FIELD for one in (initial, source, body)]
    assert np.all(initial - least < 0.5 * FIELD), told
    assert np.all(source - least < 0.9 * FIELD), told
    assert np.all(body[1:] - least[1:] < 0.5 * FIELD), told  # the first has the rows of all, and writes the labels


@measures_memory
def test_no_rank_holds_a_field_that_is_saved_or_compared(tmp_path, least):
    exact = {"exact": {"expression": "300+x"}, "checkpoint": {"every_minutes": 1e-9}}
    checked = most_memory(tmp_path, {**LARGE, **exact}, "--set", "time.sweeps=60")
    assert np.all(checked - least < 0.5 * FIELD), (checked - least) / FIELD
    with h5py.File(tmp_path / "a.h5") as file:
        assert file["history/max_error"][-1] > 0


@measures_memory
def test_no_rank_holds_a_whole_checkpoint(tmp_path):
    """But one of its five chunks, and that as it was and as it is stored. Peaks differ by some MB from run to run."""
    longer = {**LARGE, "grid": {"points": [128, 128, 1025], "upper": [1.0, 1.0, 8.0]}}
    least = most_memory(tmp_path, longer)
    resumed = most_memory(tmp_path, longer, "--resume", "--set", "time.sweeps=6")
    assert np.all(resumed - least < 0.7 * 4 * FIELD), (resumed - least) / (4 * FIELD)


# ---- resume --------------------------------------------------------------------------------------


def interrupt(process, checkpoint, more):
    """Stops it by SIGUSR1 to mpirun, which hands it on. How to go on for so many more sweeps."""
    process.send_signal(signal.SIGUSR1)
    done = wait(process)
    assert done.returncode == 130, done.stderr
    assert len(our_lines(done.stderr)) == 1 and "SIGUSR1" in done.stderr
    with h5py.File(checkpoint) as file:
        return "--resume", "--set", f"time.sweeps={int(file.attrs['sweep']) + more}"


def test_checkpoint_of_three_ranks_is_resumed_by_one_and_by_five(tmp_path):
    write(tmp_path, PLATE, time={"sweeps": 50000000}, output={"every": 50000})
    process = start(tmp_path, 3, "run", "case.cfg", "--quiet", "--output", "a.h5")
    while not (tmp_path / "a.h5").exists():
        time.sleep(0.05)
        assert process.poll() is None, process.communicate()
    time.sleep(0.3)
    on = interrupt(process, tmp_path / "a.checkpoint.h5", 3000)
    for name in tmp_path.glob("a*"):
        shutil.copy(name, tmp_path / name.name.replace("a", "b", 1))
    first = run(tmp_path, 5, "a.h5", *on)
    second = alone(tmp_path, "b.h5", *on)
    last = {name: values for name, values in datasets(first).items() if name.endswith("temperature")}
    assert last
    for name, values in last.items():
        assert values.tobytes() == datasets(second)[name].tobytes()


# ---- other files on another node -------------------------------------------------------------------

READS = {
    **BLOCK,
    "initial": {"file": "T.npy"},
    "boundary": {**BLOCK["boundary"], "x_min": {"type": "robin", "h": 20.0, "ambient_table": "wall.csv"}},
}
READS_MEASURED = FROM_FILES["measured"]
READS_LABELS = {**BODY_HERE, "body": [{**of_file("nodes"), "names": ["a", "b"]}]}


def copy_inputs(directory):
    """What another node without a shared disk would have at the same path."""
    other = directory / "other"
    other.mkdir()
    for file in directory.iterdir():
        if file.is_file():
            shutil.copy(file, other)
    return other


def launch_apart(directory, *command, others=None):
    """Rank 1 in another directory, with another command if one is given."""
    return launch(directory, 1, *command, ":", "-n", "1", "-wdir", str(directory / "other"), str(PROGRAM), *(others or command))


def contents(directory):
    return {file.name: file.read_bytes() for file in directory.iterdir() if file.is_file()}


def write_inputs(directory, case, **more):
    write_fields(directory)
    (directory / "wall.csv").write_text("0,280\n1000,290\n")
    write(directory, case, time={"sweeps": 40}, output={"every": 20}, **more)
    return copy_inputs(directory)


def assert_refused(directory, before, done, *told):
    assert done.returncode == 2, done.stderr
    lines = our_lines(done.stderr)
    assert len(lines) == 1 and all(text in lines[0] for text in ("rank 1: ", *told)), done.stderr
    assert contents(directory) == before


def change_number(path):
    values = np.load(path)
    values[20, 5, 5] += 1
    np.save(path, values)


def change_label(path):
    with h5py.File(path, "a") as file:
        file["nodes"][20, 5, 5] = 1 - file["nodes"][20, 5, 5]


def change_measured(path):
    with h5py.File(path, "a") as file:
        file["c"][20, 5, 5] *= 1.5


def change_text(old, new):
    def change(path):
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new, 1))

    return change


OTHERS = {
    "a number": (READS, "T.npy", change_number, 'initial.file = "T.npy"'),
    "a table": (READS, "wall.csv", change_text("290", "291"), 'boundary.x_min.ambient_table = "wall.csv"'),
    "a label": (READS_LABELS, "in.h5", change_label, 'body[0].file = "in.h5"'),
    "a value": (BLOCK, "case.cfg", change_text("30*z", "31*z"), "case.cfg: the config"),
    "a measured number": (READS_MEASURED, "in.h5", change_measured, 'measured.conductivity.file = "in.h5"'),
    "a body's grid": (BODY, "case.cfg", change_text("16, 23", "16, 29"), "case.cfg: the config"),
    "a grid": (BLOCK, "case.cfg", change_text("18, 25", "18, 26"), "case.cfg: the config"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_another_file_on_one_rank_is_refused(tmp_path, name):
    case, file, change, told = OTHERS[name]
    other = write_inputs(tmp_path, case)
    before = contents(tmp_path)
    change(other / file)
    done = launch_apart(tmp_path, "run", "case.cfg", "--output", "a.h5")
    assert_refused(tmp_path, before, done, told, "on every node")


@pytest.mark.parametrize("case", [READS, READS_LABELS, READS_MEASURED], ids=["fields", "labels", "measured"])
def test_copies_of_the_same_files_are_taken(tmp_path, case):
    with tempfile.NamedTemporaryFile(dir="/dev/shm", suffix=".npy") as shared:
        np.save(shared, np.full(POINTS, 310.0))
        shared.flush()
        write_inputs(tmp_path, case, source={"file": shared.name})
        done = launch_apart(tmp_path, "run", "case.cfg", "--quiet", "--output", "two.h5")
        assert done.returncode == 0, done.stderr
        assert_same(alone(tmp_path, "one.h5"), tmp_path / "two.h5")


@pytest.mark.parametrize("others", [
    ("check", "case.cfg", "--output", "a.h5"),
    ("run", "--help"),
    ("run", "case.cfg", "--output", "a.h5", "--set", "time.sweeps=50"),
    ("run", "case.cfg"),
], ids=["command", "help", "more", "less"])
def test_another_command_on_one_rank_is_refused(tmp_path, others):
    write_inputs(tmp_path, READS)
    before = contents(tmp_path)
    done = launch_apart(tmp_path, "run", "case.cfg", "--output", "a.h5", others=others)
    assert_refused(tmp_path, before, done, "its command line has", "the same arguments")


def test_another_checkpoint_on_one_rank_is_refused(tmp_path):
    """Of the same run, but of another sweep."""
    (tmp_path / "other").mkdir()
    for directory in (tmp_path / "other", tmp_path):
        on = interrupt(started(directory, 2), directory / "long.checkpoint.h5", 200)
    before = contents(tmp_path)
    done = launch_apart(tmp_path, "run", "case.cfg", "--quiet", "--output", "long.h5", *on)
    assert_refused(tmp_path, before, done, "long.checkpoint.h5: ", "on every node")
    shutil.copy(tmp_path / "long.checkpoint.h5", tmp_path / "other")
    done = launch_apart(tmp_path, "run", "case.cfg", "--quiet", "--output", "long.h5", *on)
    assert done.returncode == 0, done.stderr


# ---- signals ------------------------------------------------------------------------------------


def ranks_of(process):
    """The processes of the ranks, in order of their numbers: those of its directory."""
    directory = os.readlink(f"/proc/{process.pid}/cwd")
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            command = (entry / "cmdline").read_bytes().split(b"\0")
            environment = (entry / "environ").read_bytes()
            where = os.readlink(entry / "cwd")
        except OSError:
            continue
        if where == directory and command[0].endswith(b"heatsolve-mpi"):
            rank = int(environment.split(b"OMPI_COMM_WORLD_RANK=")[1].split(b"\0")[0])
            found.append((rank, int(entry.name)))
    return [number for _, number in sorted(found)]


def started(directory, ranks, *launcher):
    """A long run of so many ranks, once it has written something."""
    write(directory, PLATE, time={"sweeps": 5000000}, output={"every": 200})
    process = start(directory, ranks, "run", "case.cfg", "--quiet", "--output", "long.h5", launcher=launcher)
    while not (directory / "long.h5").exists() or len(ranks_of(process)) < ranks:
        time.sleep(0.05)
        assert process.poll() is None, process.communicate()
    time.sleep(0.2)  # some hundred sweeps
    return process


@pytest.mark.parametrize("which", ["SIGTERM", "SIGUSR1", "SIGINT"])
@pytest.mark.parametrize("rank", [0, 1])
def test_a_signal_to_one_rank_stops_all_with_the_state_saved(tmp_path, which, rank):
    process = started(tmp_path, 2)
    os.kill(ranks_of(process)[rank], getattr(signal, which))
    done = wait(process)
    assert done.returncode == 130, done.stderr
    assert len(our_lines(done.stderr)) == 1 and which in done.stderr and "saved" in done.stderr
    assert list(tmp_path.glob("long*checkpoint*.h5"))


def test_a_term_to_mpirun_is_saved(tmp_path):
    # s that it leaves ranks to save, and waits itself: on a busy machine the usual one is short
    process = started(tmp_path, 2, "--mca", "odls_base_sigkill_timeout", "3")
    process.send_signal(signal.SIGTERM)
    done = wait(process)
    assert done.returncode != 0
    assert list(tmp_path.glob("long*checkpoint*.h5")), done.stderr


@pytest.mark.parametrize("n", range(int(os.environ.get("HEATSOLVE_KILLS", "6"))))
def test_a_killed_rank_ends_all_and_leaves_a_file_that_opens(tmp_path, n):
    process = started(tmp_path, 3, *(USUAL if n % 2 else ()))
    while fields_of(tmp_path / "long.h5") < 2:  # or there is nothing to compare
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    time.sleep(random.Random(n).random())
    os.kill(ranks_of(process)[n % 3], signal.SIGKILL)
    done = wait(process)
    assert done.returncode != 0
    with h5py.File(tmp_path / "long.h5") as file:
        fields = file["temperature"][:6]
    one = alone(tmp_path, "one.h5", "--set", f"time.sweeps={200 * (len(fields) - 1)}")
    with h5py.File(one) as file:
        assert np.array_equal(file["temperature"][...], fields)


# ---- on several machines --------------------------------------------------------------------------


@pytest.fixture
def machines(tmp_path):
    """What mpirun takes for two machines: processes that see another host name, in place of ssh. They have one disk."""
    agent = tmp_path / "agent"
    agent.write_text("""#!/bin/sh
host=$1
shift
exec unshare --uts sh -c 'hostname "$0" && exec sh -c "$1"' "$host" "$*"
""")
    agent.chmod(0o755)
    launcher = ("--mca", "plm_rsh_agent", str(agent), "--bind-to", "none", "--host", "machine-a:2,machine-b:2")
    names = launch(tmp_path, 4, program="hostname", launcher=launcher).stdout.split()
    if sorted(names) != ["machine-a", "machine-a", "machine-b", "machine-b"]:
        pytest.skip("no host names of one's own here (unshare --uts)")
    return launcher


@pytest.mark.parametrize("case", [PLATE, BODY], ids=["plate", "body"])
def test_two_machines_write_the_same_file(tmp_path, machines, case):
    write(tmp_path, case, time={"sweeps": 53}, output={"every": 9, "history_every": 4})
    done = launch(tmp_path, 3, "run", "case.cfg", "--quiet", "--output", "three.h5", launcher=machines)
    assert done.returncode == 0, done.stderr
    assert_same(alone(tmp_path, "one.h5"), tmp_path / "three.h5")


def test_a_usr1_to_mpirun_reaches_the_other_machine(tmp_path, machines):
    on = interrupt(started(tmp_path, 4, *machines), tmp_path / "long.checkpoint.h5", 100)
    resumed = launch(tmp_path, 4, "run", "case.cfg", "--quiet", "--output", "long.h5", *on, launcher=machines)
    assert resumed.returncode == 0, resumed.stderr


@pytest.mark.parametrize("rank", [0, 3])
def test_a_rank_killed_on_either_machine_ends_all(tmp_path, machines, rank):
    process = started(tmp_path, 4, *machines)
    ranks = ranks_of(process)
    os.kill(ranks[rank], signal.SIGKILL)
    assert wait(process).returncode != 0
    begin = time.monotonic()
    while any(pathlib.Path(f"/proc/{left}").exists() for left in ranks):  # the other machine's end a moment later
        assert time.monotonic() < begin + LIMIT
        time.sleep(0.02)
    with h5py.File(tmp_path / "long.h5") as file:
        assert len(file["temperature"]) > 0


# ---- what is said ---------------------------------------------------------------------------------


def test_one_message_where_a_config_is_wrong(tmp_path):
    write(tmp_path, PLATE, time={"sweeps": 10})
    done = launch(tmp_path, 3, "run", "case.cfg", "--set", "time.safety=7.0")
    assert done.returncode == 2
    assert len(our_lines(done.stderr)) == 1 and "time.safety" in done.stderr


@pytest.mark.parametrize("command", ["run", "check", "verify"])
def test_a_config_from_a_pipe_is_refused_as_that(tmp_path, command):
    """mpirun gives its standard input to rank 0 alone."""
    done = launch(tmp_path, 2, command, "/dev/stdin")
    assert done.returncode == 3
    told = [line for line in done.stderr.splitlines() if "/dev/stdin" in line]
    assert told == ["heatsolve: /dev/stdin: cannot open: it is a pipe, and a file is needed; each of the 2 ranks reads the config"]


def test_more_ranks_than_the_grid_has_layers_for_are_refused(tmp_path):
    write(tmp_path, PLATE, time={"sweeps": 10}, stencil={"radius": 3}, grid={"points": [40, 14], "upper": [1.0, 1.0]})
    done = launch(tmp_path, 6, "run", "case.cfg", "--output", "a.h5")
    assert done.returncode == 2
    assert "start 4 or fewer" in done.stderr and "grid.points" in done.stderr
    assert not (tmp_path / "a.h5").exists()
    write(tmp_path, PLATE, time={"sweeps": 10}, grid={"points": [40, 3], "upper": [1.0, 1.0]})
    assert "needs 1 layer or more" in launch(tmp_path, 6, "check", "case.cfg").stderr


def test_a_line_is_cut_at_its_blocks(tmp_path):
    """Of 64 nodes, not of the radius."""
    write(tmp_path, PLATE, time={"sweeps": 10}, grid={"points": [64], "upper": [1.0]}, boundary={}, initial={"value": 1.0})
    done = launch(tmp_path, 3, "check", "case.cfg")
    assert done.returncode == 2
    assert "can be divided along x among 1 rank at most, since each of several needs 64 layers or more, and there are 3; start 1" in done.stderr, done.stderr


def test_too_large_for_memory_is_said_once(tmp_path):
    write(tmp_path, BLOCK, time={"sweeps": 10}, grid={"points": [9000, 9000, 9000], "upper": [1.0, 1.0, 1.0]})
    done = launch(tmp_path, 3, "run", "case.cfg", "--output", "a.h5")
    assert done.returncode in (3, 4)  # the disk may be too small as well
    assert len(our_lines(done.stderr)) == 1, done.stderr


def test_an_output_that_cannot_be_written_is_said_once(tmp_path):
    write(tmp_path, BLOCK, time={"sweeps": 10})
    done = launch(tmp_path, 3, "run", "case.cfg", "--output", "case.cfg/a.h5")
    assert done.returncode == 3
    assert len(our_lines(done.stderr)) == 1 and "case.cfg/a.h5" in done.stderr


def test_a_limit_on_the_files_size_is_said_once(tmp_path):
    """9 MB, which is more than what MPI shares by files."""
    limited = tmp_path / "limited"
    limited.write_text(f'#!/bin/sh\nulimit -f 18000\nexec {PROGRAM} "$@"\n')
    limited.chmod(0o755)
    write(tmp_path, BLOCK, time={"sweeps": 40000}, output={"every": 100})
    done = launch(tmp_path, 3, "run", "case.cfg", "--quiet", "--output", "a.h5", program=limited)
    assert done.returncode == 3, done.stderr
    assert sum("ulimit -f" in line for line in our_lines(done.stderr)) == 1 and len(our_lines(done.stderr)) <= 2, done.stderr
    with h5py.File(tmp_path / "a.h5") as file:
        fields = file["temperature"][...]
    whole = alone(tmp_path, "one.h5", "--set", f"time.sweeps={100 * (len(fields) - 1)}")
    with h5py.File(whole) as file:
        assert len(fields) > 10 and fields.tobytes() == file["temperature"][...].tobytes()


@pytest.mark.parametrize("method", ["spectral", "exponential"])
def test_other_methods_are_refused_by_name(tmp_path, method):
    write(tmp_path, BLOCK, time={"end": 10.0, "step": 0.5, "method": method})
    done = launch(tmp_path, 2, "run", "case.cfg", "--output", "a.h5")
    assert done.returncode == 2
    assert len(our_lines(done.stderr)) == 1 and f': time.method = "{method}": cannot run on 2 ranks' in done.stderr, done.stderr


@pytest.mark.parametrize("method", ["multigrid", "spectral"])
def test_solvers_are_refused_by_their_key(tmp_path, method):
    write(tmp_path, {**PLATE, "source": {"value": 1e-3}, "boundary": {}}, steady={"tolerance": 1e-9, "method": method})
    done = launch(tmp_path, 2, "run", "case.cfg", "--output", "a.h5")
    assert done.returncode == 2
    assert f': steady.method = "{method}": cannot run on 2 ranks; those that can: sweeps;' in done.stderr, done.stderr


def test_too_long_a_step_has_a_remedy_that_ranks_can_take(tmp_path):
    write(tmp_path, PLATE, time={"end": 1e15, "tolerance": 1.0, "method": "rkl2"})
    said = [launch(tmp_path, ranks, "run", "case.cfg", "--output", "a.h5").stderr for ranks in (1, 2)]
    assert all("and 1e+12 times are the most" in text for text in said), said
    assert 'or take "implicit"\n' in said[0] and 'or take "implicit" on one rank\n' in said[1], said


ONE_THREAD = """
int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided);
int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    const int status = PMPI_Init_thread(argc, argv, required, provided);
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (!getenv("ONLY_RANK") || (rank && strcmp(rank, getenv("ONLY_RANK")) == 0))
        *provided = 1; /* MPI_THREAD_FUNNELED */
    return status;
}
"""


@pytest.mark.skipif("sanitize" in HEATSOLVE, reason="a sanitizer's library must be the first that is loaded")
@pytest.mark.parametrize("only", ["", "1"])
def test_an_mpi_for_one_thread_is_refused_on_several_ranks(tmp_path, only):
    (tmp_path / "one.c").write_text("#include <stdlib.h>\n#include <string.h>\n" + ONE_THREAD)
    compiler = os.environ.get("CC", "cc").split()
    subprocess.run([*compiler, "-shared", "-fPIC", "-o", tmp_path / "one.so", tmp_path / "one.c"], check=True)
    preloaded = tmp_path / "preloaded"
    setting = f"export ONLY_RANK={only}\n" if only else ""
    preloaded.write_text(f'#!/bin/sh\n{setting}export LD_PRELOAD={tmp_path}/one.so\nexec {PROGRAM} "$@"\n')
    preloaded.chmod(0o755)
    write(tmp_path, BLOCK, time={"sweeps": 10})
    done = launch(tmp_path, 2, "run", "case.cfg", "--quiet", "--output", "a.h5", program=preloaded)
    assert done.returncode == 4 and len(our_lines(done.stderr)) == 1 and "MPI_THREAD_SERIALIZED" in done.stderr, done.stderr
    assert not (tmp_path / "a.h5").exists()
    if not only:
        done = launch(tmp_path, 1, "run", "case.cfg", "--quiet", "--output", "a.h5", program=preloaded)
        assert done.returncode == 0, done.stderr


def test_auto_finds_the_steady_state_by_what_ranks_can(tmp_path):
    still = {**PLATE, "source": {"value": 1e-3}, "boundary": {"all": {"type": "dirichlet", "value": 300.0}}}
    write(tmp_path, still, grid={"points": [12, 13], "upper": [1.0, 1.0]}, steady={"tolerance": 1e-4, "method": "auto"})
    assert "multigrid" in must(tmp_path, "check", "case.cfg")
    done = launch(tmp_path, 2, "run", "case.cfg", "--json", "--output", "two.h5")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["status"] == "steady" and "takes sweeps" in told["note"] and "multigrid: it cannot run on 2 ranks" in told["note"]
    assert_same(alone(tmp_path, "one.h5", "--set", 'steady.method="sweeps"'), tmp_path / "two.h5")


def test_the_usual_program_refuses_to_be_one_of_several(tmp_path):
    write(tmp_path, BLOCK, time={"sweeps": 10})
    # processes that know nothing of each other: the first to end is not to end the one that speaks
    done = launch(tmp_path, 2, "run", "case.cfg", program=HEATSOLVE, launcher=USUAL)
    assert done.returncode == 2
    assert len(our_lines(done.stderr)) == 1 and "heatsolve-mpi" in done.stderr
    assert not list(tmp_path.glob("*.h5"))


LAUNCHERS = [("PMI_SIZE", "PMI_RANK"), ("MPI_LOCALNRANKS", "MPI_LOCALRANKID"), ("SLURM_STEP_NUM_TASKS", "SLURM_PROCID")]


@pytest.mark.parametrize("program, remedy", [(HEATSOLVE, "start heatsolve-mpi"), (PROGRAM, "MPICC")], ids=["usual", "mpi"])
@pytest.mark.parametrize("count, number", LAUNCHERS)
def test_ranks_that_do_not_find_each_other_are_refused(tmp_path, program, remedy, count, number):
    """Started by the mpirun of another MPI than the program was built with, each finds itself alone."""
    write(tmp_path, BLOCK, time={"sweeps": 10})
    for rank in ("0", "1"):
        environment = {**ENVIRONMENT, count: "2", number: rank}
        done = subprocess.run([program, "run", "case.cfg"], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=LIMIT)
        assert done.returncode == 2 and not done.stdout
        assert [f"({count})" in line and remedy in line for line in our_lines(done.stderr)] == [True] * (rank == "0"), done.stderr
    assert not list(tmp_path.glob("*.h5"))


def test_the_usual_program_links_no_mpi():
    libraries = subprocess.run(["ldd", HEATSOLVE], capture_output=True, text=True).stdout
    assert "libmpi" not in libraries and "libhdf5" in libraries


def test_what_ranks_find_out_about_kernels_is_theirs(tmp_path, monkeypatch):
    monkeypatch.setitem(ENVIRONMENT, "XDG_CACHE_HOME", str(tmp_path / "cache"))
    write(tmp_path, BLOCK, time={"sweeps": 40})
    done = launch(tmp_path, 2, "run", "case.cfg", "--quiet", "--retune", "--output", "a.h5")
    assert done.returncode == 0, done.stderr
    (kept,) = (tmp_path / "cache" / "heatsolve").iterdir()
    assert ", 2 ranks\n" in kept.read_text()
    found = [json.loads(launch(tmp_path, ranks, "check", "case.cfg", "--json").stdout)["kernel_choice"] for ranks in (1, 2, 3)]
    assert found == ["heuristic", "tuned", "heuristic"]
    done = launch(tmp_path, 2, "tune", "case.cfg")
    assert done.returncode == 2 and "run --retune" in done.stderr and len(list(kept.parent.iterdir())) == 1, done.stderr


def test_check_says_what_each_rank_has(tmp_path):
    write(tmp_path, BLOCK, time={"sweeps": 10})
    done = launch(tmp_path, 2, "check", "case.cfg")
    assert done.returncode == 0, done.stderr
    assert "for each rank" in done.stdout and "2, of 12 layers along z or more" in done.stdout, done.stdout


@pytest.mark.parametrize("ranks, method", [(1, "implicit"), (2, "rkl2")])
def test_check_recommends_what_so_many_ranks_can(tmp_path, ranks, method):
    write(tmp_path, PLATE, time={"end": 1e10})
    done = launch(tmp_path, ranks, "check", "case.cfg")
    assert done.returncode == 0 and f'time.method = "{method}" with a time.tolerance takes' in done.stdout, done.stdout + done.stderr
    done = launch(tmp_path, ranks, "check", "case.cfg", "--set", f'time.method="{method}"', "--set", "time.tolerance=0.1")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("case", [PLATE, BODY], ids=["plate", "body"])
def test_verify_holds_ranks_to_one(tmp_path, case):
    write(tmp_path, case, time={"sweeps": 50})
    done = launch(tmp_path, 3, "verify", "case.cfg", "--kernel", "all", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["comparisons"]
    assert len(found) >= 2 and all(one["differing"] == 0 and one["sweeps"] == 50 for one in found)
    one = launch(tmp_path, 2, "verify", "case.cfg", "--json")
    assert one.returncode == 0 and json.loads(one.stdout)["no_refinement"] == "that is for one rank"


def test_verify_reads_what_no_rank_holds(tmp_path):
    write_fields(tmp_path)
    write(tmp_path, FROM_FILES["source of a body"], time={"sweeps": 50})
    done = launch(tmp_path, 2, "verify", "case.cfg", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["comparison"]["differing"] == 0


@pytest.mark.parametrize("how", ["--weak", "--strong"])
def test_bench_compares_ranks_with_one(tmp_path, how):
    done = launch(tmp_path, 2, "bench", how, "--points", "24", "--backend", "cpu", "--kernel", "openmp,wavefront",
                  "--repeats", "3", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["ranks"] == 2 and told["points"] == ([24, 24, 48] if how == "--weak" else [24, 24, 24])
    assert [row["kernel"] for row in told["kernels"]] == ["openmp", "wavefront"]
    for row in told["kernels"]:
        share = 1 if how == "--weak" else 2
        assert row["proven"]
        assert row["efficiency"] == pytest.approx(row["seconds_alone"] / (share * row["seconds"]), rel=1e-6)


def test_bench_of_ranks_sweeps_bodies(tmp_path):
    done = launch(tmp_path, 3, "bench", "--weak", "--points", "20", "--backend", "cpu", "--body", "arrays", "--repeats", "3", "--json")
    assert done.returncode == 0, done.stderr
    assert all(row["proven"] for row in json.loads(done.stdout)["kernels"])


def test_bench_of_ranks_needs_several(tmp_path):
    done = heatsolve(tmp_path, "bench", "--weak", timeout=LIMIT)
    assert done.returncode == 2 and "heatsolve-mpi" in done.stderr
