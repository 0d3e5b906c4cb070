"""A single flipped bit in a file of a run: what reads the file reports it, or it has no effect.

HEATSOLVE_FLIPS=N tries N bits of each file instead of 50; with -rP pytest shows what became of them.
"""

import os
import random
import signal
import subprocess
import time

import h5py
import numpy as np
import pytest
import sums
from program import heatsolve, start, wait_for

FLIPS = int(os.environ.get("HEATSOLVE_FLIPS", "50"))

CONFIG = """
title = "flips";
precision = "{precision}";
grid = {{ points = [25, 24]; spacing = 0.01; }};
material = {{ diffusivity = 1e-4; }};
initial = {{ expression = "20 + 100*sin(40*x)*cos(30*y)"; }};
boundary = {{ all = {{ type = "dirichlet"; value = "20+t"; }}; }};
time = {{ sweeps = {sweeps}; step = 0.1; }};
output = {{ file = "out/run.h5"; every = {every}; history_every = {every}; compression = {compression}; }};
solver = {{ threads = 1; }};
probes = ( {{ name = "core"; at = [0.03, 0.03]; }} );
"""
FORMS = {"double": ("double", 0), "float packed": ("float", 6)}


def command(directory, name, *arguments):
    return heatsolve(directory, name, *arguments, timeout=100)


def resume(directory, end):
    return command(directory, "run", "case.cfg", "--quiet", "--resume", "--set", f"time.sweeps={end}")


def finished(directory):
    assert command(directory, "run", "case.cfg", "--quiet", "--set", "time.sweeps=60").returncode == 0
    return 80


def stopped(directory):
    """A run that was interrupted between snapshots, so it left a checkpoint; returns the end for resuming it."""
    process = start(directory, "run", "case.cfg", "--quiet")
    wait_for(directory / "out/run.h5", process)
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    assert process.wait() == 130, process.stderr.read()
    with h5py.File(directory / "out/run.checkpoint.h5") as f:
        return int(f.attrs["sweep"]) + 20


def chunks_in(path):
    """(begin, end, step) of each chunk."""
    with h5py.File(path) as f:
        set_id = f["temperature"].id
        infos = [set_id.get_chunk_info(n) for n in range(set_id.get_num_chunks())]
    return [(i.byte_offset, i.byte_offset + i.size, i.chunk_offset[0]) for i in infos]


def read(path):
    """The content of the file: each step's bytes, or None if they cannot be read, and the other datasets."""
    with h5py.File(path) as f:
        steps, rest = [], {}
        for n in range(len(f["temperature"])):
            try:
                steps.append(f["temperature"][n].tobytes())
            except OSError:
                steps.append(None)
        for group in (f, f["history"], f["history/flux"], f["probes"]):
            for name, item in group.items():
                if isinstance(item, h5py.Dataset) and name != "temperature":
                    rest[item.name] = item[()].tobytes()
    return steps, rest


def positions(path, count, rng):
    """Random bits: half of them in chunks, which make up most of the file, half outside."""
    inside = [n for begin, end, _ in chunks_in(path) for n in range(begin, end)]
    outside = sorted(set(range(path.stat().st_size)) - set(inside))
    chosen = rng.choices(inside, k=count // 2) + rng.choices(outside, k=count - count // 2)
    return [(at, rng.randrange(8)) for at in chosen]


@pytest.fixture(params=FORMS)
def form(request):
    return FORMS[request.param]


def begin(directory, form, how):
    """The files of a run to be resumed, as bytes, and the sweep up to which it shall go on."""
    precision, compression = form
    sweeps, every = (60, 15) if how is finished else (10**8, 20000)
    (directory / "case.cfg").write_text(
        CONFIG.format(precision=precision, compression=compression, sweeps=sweeps, every=every)
    )
    end = how(directory)
    return {p.name: p.read_bytes() for p in (directory / "out").iterdir()}, end


def put_back(directory, files):
    for path in (directory / "out").iterdir():
        path.unlink()
    for name, content in files.items():
        (directory / "out" / name).write_bytes(content)


def flip(path, at, bit):
    content = bytearray(path.read_bytes())
    content[at] ^= 1 << bit
    path.write_bytes(content)


def assert_told(result, where):
    assert result.returncode in (2, 3), (where, result.returncode, result.stderr)
    assert "heatsolve: " in result.stderr and len(result.stderr) > 40, (where, result.stderr)


@pytest.mark.parametrize(
    "how, name",
    [(finished, "run.h5"), (stopped, "run.h5"), (stopped, "run.checkpoint.h5")],
    ids=["finished", "output beside a checkpoint", "checkpoint"],
)
def test_a_resume_is_refused_or_ends_with_the_same_bits(tmp_path, form, how, name):
    files, end = begin(tmp_path, form, how)
    file, output = tmp_path / "out" / name, tmp_path / "out/run.h5"
    chunks = chunks_in(file)
    chosen = positions(file, FLIPS, random.Random(f"{name} {form}"))
    assert resume(tmp_path, end).returncode == 0
    steps, rest = read(output)
    refused = told = 0
    for at, bit in chosen:
        put_back(tmp_path, files)
        flip(file, at, bit)
        result = resume(tmp_path, end)
        if result.returncode != 0:
            assert_told(result, (at, bit))
            refused += 1
            continue
        # resuming reads no snapshot before the one it starts from; whoever reads those gets an error
        hurt = {step for begin, stop, step in chunks if begin <= at < stop and name == "run.h5"}
        found, others = read(output)
        assert others == rest, (at, bit)
        assert len(found) == len(steps), (at, bit)
        differing = {n for n in range(len(steps)) if found[n] != steps[n]}
        assert differing <= hurt and all(found[n] is None for n in differing), (at, bit)
        told += bool(differing)
    print(f"{FLIPS} bits: {refused} refused, {told} told by HDF5, {FLIPS - refused - told} without effect")
    assert refused > FLIPS / 10


def test_a_picture_is_refused_or_the_same(tmp_path, form):
    files, _ = begin(tmp_path, form, finished)
    file, picture = tmp_path / "out/run.h5", tmp_path / "picture.png"
    chosen = positions(file, FLIPS, random.Random(f"render {form}"))
    draw = ("render", "out/run.h5", "--step", "2", "--width", "400", "-o", "picture.png")
    assert command(tmp_path, *draw).returncode == 0
    expected = picture.read_bytes()
    refused = 0
    for at, bit in chosen:
        put_back(tmp_path, files)
        flip(file, at, bit)
        picture.unlink(missing_ok=True)
        result = command(tmp_path, *draw)
        if result.returncode == 0:
            assert picture.read_bytes() == expected, (at, bit)
            continue
        assert_told(result, (at, bit))
        assert "out/run.h5: " in result.stderr and not picture.exists()
        refused += 1
    print(f"{FLIPS} bits: {refused} refused, {FLIPS - refused} without effect")
    assert refused > FLIPS / 10


def test_h5py_is_told_of_every_bit_of_a_snapshot(tmp_path, form):
    """HDF5's checksum of every kind of chunk: reading fails for each flipped bit, and only then."""
    files, _ = begin(tmp_path, form, finished)
    file = tmp_path / "out/run.h5"
    rng = random.Random(f"h5py {form}")
    for begin_at, end_at, step in chunks_in(file):
        for at in rng.sample(range(begin_at, end_at), 8):
            flip(file, at, bit := rng.randrange(8))
            with h5py.File(file) as f:
                with pytest.raises(OSError):
                    f["temperature"][step]
                assert all(np.isfinite(f["temperature"][n]).all() for n in range(5) if n != step)
            flip(file, at, bit)


# ---- what else reads such files, and what its messages name ------------------------------------------


def repack(path):
    copy = path.with_name("copy.h5")
    subprocess.run(["h5repack", path, copy], check=True)
    return copy


def spoil_contents(path):
    flip(path, sums.record_of(path.read_bytes())[0] + 1000, 3)


def test_a_picture_of_a_file_that_was_changed(tmp_path, form):
    begin(tmp_path, form, finished)
    file = tmp_path / "out/run.h5"
    draw = lambda name, *more: command(tmp_path, "render", name, *more, "-o", "picture.png")  # noqa: E731
    assert draw("out/run.h5").returncode == 0
    expected = (tmp_path / "picture.png").read_bytes()
    with h5py.File(file, "r+") as f:
        f.attrs["note"] = "mine"
    result = draw("out/run.h5")
    assert result.returncode == 3
    assert "out/run.h5: cannot read its table of contents, which is damaged or was changed by another" in result.stderr
    assert "draw a copy of it that h5repack makes" in result.stderr
    copy = repack(file)
    assert draw("out/copy.h5").returncode == 0 and (tmp_path / "picture.png").read_bytes() == expected
    sums.strip(file)  # as earlier versions wrote it
    with h5py.File(file, "r+") as f:
        del f.attrs["form"]
    assert draw("out/run.h5").returncode == 0 and (tmp_path / "picture.png").read_bytes() == expected
    begin_at, end_at, _ = chunks_in(copy)[1]
    flip(copy, (begin_at + end_at) // 2, 5)
    result = draw("out/copy.h5", "--step", "1")
    assert result.returncode == 3
    assert "out/copy.h5: cannot read snapshot 1 of /temperature: the file is damaged, its checksum" in result.stderr
    assert "draw another snapshot with --step" in result.stderr
    assert draw("out/copy.h5", "--step", "2").returncode == 0


@pytest.mark.parametrize("key", ["initial", "source"])
def test_a_field_of_a_file_that_was_changed(tmp_path, form, key):
    begin(tmp_path, form, finished)
    file = tmp_path / "out/run.h5"
    run = lambda name: command(  # noqa: E731
        *(tmp_path, "run", "case.cfg", "--quiet", "--set", "time.sweeps=3", "--overwrite", "--output", "next.h5"),
        *("--set", f'{key}={{file="{name}";dataset="temperature";}}'),
    )
    assert run("out/run.h5").returncode == 0
    expected = read(tmp_path / "next.h5")
    spoil_contents(file)
    result = run("out/run.h5")
    assert result.returncode == 3
    assert f"{key}.file" in result.stderr and "out/run.h5: a run's file that is damaged or was changed" in result.stderr
    assert "read a copy of it that h5repack makes" in result.stderr
    repack(file)
    assert run("out/copy.h5").returncode == 0
    assert read(tmp_path / "next.h5") == expected
