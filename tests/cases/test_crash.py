"""A run that is killed at any moment, or finds the disk full, leaves a file that opens and whose snapshots are those
of an uninterrupted run."""

import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

import h5py
import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import faults  # noqa: E402

KILLS = int(os.environ.get("HEATSOLVE_KILLS", "20"))  # at random moments; more for a long look


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return faults.build(tmp_path_factory.mktemp("fault"))


@pytest.fixture(scope="module", params=[0, 4], ids=["plain", "compressed"])
def whole(request, library, tmp_path_factory):
    """An uninterrupted run: (compression, its datasets, calls that changed its file)."""
    directory = tmp_path_factory.mktemp("whole")
    # rows of the history with snapshots only: between them it depends on the writing thread whether contents follow
    faults.write_config(directory, sweeps=25, compression=request.param, history_every=5)
    log = directory / "log"
    # with a clock that gains 12 s after each time, contents follow every snapshot, and places are used again
    result = faults.run(directory, library=library, clock=12, log=log)
    assert result.returncode == 0, result.stderr
    calls = log.read_text().splitlines()
    assert [c.split()[1] for c in calls].count("rename") >= 1
    return request.param, faults.datasets(directory / "out/run.h5"), calls


def assert_part_of(found, expected):
    """What is in the file is the beginning of what the whole run has."""
    steps = len(found["sweep"])
    assert steps >= 1
    assert set(found) >= {"temperature", "time", "sweep", "x", "y", "z", "history/max", "probes/core"}
    rows = len(found["history/sweep"])
    for name, values in found.items():
        if name in ("x", "y", "z"):
            assert np.array_equal(values, expected[name])
            continue
        length = rows if name.startswith(("history/", "probes/")) else steps
        assert len(values) == length, name
        assert values.tobytes() == expected[name][:length].tobytes(), name
    return steps


@pytest.mark.parametrize("kind", ["kill", "half"])
def test_killed_at_any_write(whole, library, tmp_path, kind):
    """Before, and in the middle of, every single write, truncation and renaming of the file."""
    compression, expected, calls = whole
    faults.write_config(tmp_path, sweeps=25, compression=compression, history_every=5)
    file = tmp_path / "out/run.h5"
    seen = set()
    for n in range(1, len(calls) + 1):
        if kind == "half" and calls[n - 1].split()[1] != "pwrite":
            continue  # these have no middle
        file.unlink(missing_ok=True)
        log = tmp_path / f"log{n}"
        result = faults.run(tmp_path, library=library, clock=12, log=log, **{kind: n})
        if result.returncode == 0:  # on a busy machine one table may do for two snapshots: then there is no nth call
            assert len(log.read_text().splitlines()) < n
        else:
            assert result.returncode == -signal.SIGKILL, n
        if file.exists():
            seen.add(assert_part_of(faults.datasets(file), expected))
        else:
            seen.add(0)
    assert seen >= set(range(len(expected["sweep"])))  # the kills came everywhere: before, between, after


def test_killed_at_any_write_with_rows_between_snapshots(library, tmp_path):
    """The loop adds rows while the writing thread writes; the number of writes is not always the same."""
    faults.write_config(tmp_path, sweeps=25)
    log = tmp_path / "log"
    file = tmp_path / "out/run.h5"
    assert faults.run(tmp_path, library=library, clock=12, log=log).returncode == 0
    expected = faults.datasets(file)
    assert len(expected["history/sweep"]) > len(expected["sweep"]) == 6
    killed = 0
    calls = len(log.read_text().splitlines())
    for n in range(1, calls + 1):
        file.unlink(missing_ok=True)
        result = faults.run(tmp_path, library=library, clock=12, kill=n)
        assert result.returncode in (-signal.SIGKILL, 0), n
        killed += result.returncode != 0
        if file.exists():
            assert_part_of(faults.datasets(file), expected)
    assert killed > calls // 2


def test_space_of_old_contents_is_used_again(whole):
    """Else the kills above would not try it: a later write of contents goes before the end of the file."""
    _, _, calls = whole
    places = [int(c.split()[3]) for c in calls if c.split()[1] == "pwrite"]
    beyond = 0
    again = 0
    for at in places:
        again += 0 < at < beyond
        beyond = max(beyond, at)
    assert again > 0


def test_the_superblock_is_one_write(whole):
    """The switch: 96 bytes at the beginning, as a whole, and nothing else is written there."""
    _, expected, calls = whole
    writes = [c.split() for c in calls if c.split()[1] == "pwrite"]
    first = [int(w[2]) for w in writes if int(w[3]) < 2048]
    assert set(first) == {96}
    assert len(first) >= len(expected["sweep"])  # every snapshot was made visible


def test_an_older_file_stays_until_the_first_snapshot_is_whole(library, tmp_path):
    faults.write_config(tmp_path)
    assert faults.run(tmp_path).returncode == 0
    file = tmp_path / "out/run.h5"
    before = file.read_bytes()
    log = tmp_path / "log"
    faults.run(tmp_path, library=library, clock=12, log=log)
    calls = [line.split()[1] for line in log.read_text().splitlines()]
    file.write_bytes(before)
    for n in range(1, calls.index("rename") + 2):
        assert faults.run(tmp_path, library=library, clock=12, kill=n).returncode == -signal.SIGKILL
        assert file.read_bytes() == before
    faults.run(tmp_path, library=library, clock=12, kill=calls.index("rename") + 4)
    assert file.read_bytes() != before


def test_killed_at_random_moments(tmp_path):
    """By the clock, from outside, under way: also within HDF5, within the kernel's write, anywhere."""
    faults.write_config(tmp_path, points=(60, 60, 60), sweeps=4000, every=10)
    # the whole run would take long: its first snapshots are enough to compare with
    assert faults.run(tmp_path, "--set", "time.sweeps=400").returncode == 0
    file = tmp_path / "out/run.h5"
    with h5py.File(file) as f:
        expected = f["temperature"][:]
    random.seed(2)
    steps = []
    for _ in range(KILLS):
        file.unlink()
        process = subprocess.Popen(
            [faults.HEATSOLVE, "run", "case.cfg", "--quiet"], cwd=tmp_path, stdout=subprocess.DEVNULL
        )
        while not file.exists() and process.poll() is None:
            time.sleep(0.002)
        time.sleep(random.uniform(0.0, 0.8))
        process.kill()
        assert process.wait() in (-signal.SIGKILL, 0)
        with h5py.File(file) as f:
            count = min(len(f["time"]), len(expected))
            assert f["temperature"].shape[0] == len(f["time"]) == len(f["sweep"])
            assert np.array_equal(f["sweep"][:count], 10 * np.arange(count))
            assert np.array_equal(f["temperature"][:count], expected[:count])
            f["temperature"][-1]  # and the last one can be read
        steps.append(count)
    assert len(set(steps)) > 1  # the kills did come at different stages


def test_disk_full(library, tmp_path):
    """Exit 3 with what is needed and free; what was written before stays readable."""
    faults.write_config(tmp_path)
    assert faults.run(tmp_path).returncode == 0
    file = tmp_path / "out/run.h5"
    expected = faults.datasets(file)
    size = file.stat().st_size
    left = set()
    for part in range(1, 12):
        shutil.rmtree(tmp_path / "out")
        result = faults.run(tmp_path, library=library, clock=12, room=size * part // 8)
        assert result.returncode == 3, (part, result.stderr)
        assert "out/run.h5: cannot write: No space left on device" in result.stderr
        assert "bytes are needed and" in result.stderr
        if file.exists():
            left.add(assert_part_of(faults.datasets(file), expected))
            assert "what was written before stays readable" in result.stderr
        else:
            left.add(0)
            assert not list((tmp_path / "out").iterdir())  # and nothing half-made lies about
            assert "stays readable" not in result.stderr
    assert len(left) > 2


def mounted(directory, size):
    """A small file system, where one may mount it; else None."""
    directory.mkdir()
    result = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", directory], capture_output=True)
    return result.returncode == 0


def test_a_full_file_system(tmp_path):
    disk = tmp_path / "out"
    if not mounted(disk, "2m"):
        pytest.skip("needs the right to mount a small file system")
    try:
        faults.write_config(tmp_path, points=(40, 40, 40), sweeps=40, every=5)
        result = faults.run(tmp_path)
        assert result.returncode == 3
        assert "No space left on device" in result.stderr and "are free" in result.stderr
        with h5py.File(disk / "run.h5") as f:
            assert len(f["time"]) >= 1
            assert np.isfinite(f["temperature"][:]).all()
    finally:
        subprocess.run(["umount", disk], check=True)


@pytest.mark.parametrize(
    "prepare, status",
    [
        (lambda d: (d / "out").write_text("a file"), 3),
        (lambda d: (d / "out/run.h5").mkdir(parents=True), 2),  # already the config is wrong then
    ],
    ids=["parent is a file", "is a directory"],
)
def test_where_it_cannot_be_written(tmp_path, prepare, status):
    faults.write_config(tmp_path)
    prepare(tmp_path)
    result = faults.run(tmp_path)
    assert result.returncode == status
    assert "out/run.h5" in result.stderr and "output.file" in result.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_directory_without_leave(tmp_path):
    faults.write_config(tmp_path)
    (tmp_path / "out").mkdir(mode=0o500)
    result = faults.run(tmp_path)
    assert result.returncode == 3
    assert "Permission denied" in result.stderr and "output.file" in result.stderr


def test_missing_directories_are_made(tmp_path):
    faults.write_config(tmp_path)
    result = faults.run(tmp_path, "--set", 'output.file="a/b/c/run.h5"')
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "a/b/c/run.h5").exists() and (tmp_path / "a/b/c/run.xdmf").exists()
