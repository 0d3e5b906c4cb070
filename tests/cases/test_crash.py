"""A killed run, or one that finds the disk full, leaves a file that opens, with the snapshots of an uninterrupted
run."""

import json
import os
import random
import resource
import re
import shutil
import signal
import subprocess
import time

import faults
import h5py
import numpy as np
import pytest
from program import heatsolve, start, wait_for

KILLS = int(os.environ.get("HEATSOLVE_KILLS", "20"))  # at random moments; set more for a long test


@pytest.fixture(scope="module", params=[0, 4], ids=["plain", "compressed"])
def whole(request, library, tmp_path_factory):
    """An uninterrupted run: (compression, its datasets, the calls that changed its file)."""
    directory = tmp_path_factory.mktemp("whole")
    # history rows only with snapshots: for rows in between it depends on the writing thread whether contents follow
    faults.write_config(directory, sweeps=25, compression=request.param, history_every=5)
    log = directory / "log"
    # the clock gains 12 s at each reading, so contents follow every snapshot, and old space is used again
    result = faults.run(directory, library=library, clock=12, log=log)
    assert result.returncode == 0, result.stderr
    calls = log.read_text().splitlines()
    assert [c.split()[1] for c in calls].count("rename") >= 1
    return request.param, faults.datasets(directory / "out/run.h5"), calls


def assert_part_of(found, expected):
    """The file holds the beginning of the uninterrupted run."""
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
    """Before, and in the middle of, every single write, truncation and rename of the file."""
    compression, expected, calls = whole
    faults.write_config(tmp_path, sweeps=25, compression=compression, history_every=5)
    file = tmp_path / "out/run.h5"
    seen = set()
    for n in range(1, len(calls) + 1):
        if kind == "half" and calls[n - 1].split()[1] != "pwrite":
            continue  # these calls have no middle
        file.unlink(missing_ok=True)
        log = tmp_path / f"log{n}"
        result = faults.run(tmp_path, library=library, clock=12, log=log, **{kind: n})
        if result.returncode == 0:  # on a busy machine one table may serve two snapshots, and there is no nth call
            assert len(log.read_text().splitlines()) < n
        else:
            assert result.returncode == -signal.SIGKILL, n
        if file.exists():
            seen.add(assert_part_of(faults.datasets(file), expected))
        else:
            seen.add(0)
    assert seen >= set(range(len(expected["sweep"])))  # kills happened at all stages: before, between, after


def test_killed_at_any_write_with_rows_between_snapshots(library, tmp_path):
    """The loop adds rows while the writing thread writes; the number of writes varies."""
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
    """Otherwise the kills above would not cover it: later contents are written before the end of the file."""
    _, _, calls = whole
    places = [int(c.split()[3]) for c in calls if c.split()[1] == "pwrite"]
    beyond = 0
    again = 0
    for at in places:
        again += 0 < at < beyond
        beyond = max(beyond, at)
    assert again > 0


def test_the_superblock_is_one_write(whole):
    """A commit is the single write of 96 bytes at the start of the file; nothing else is written there."""
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
    faults.run(tmp_path, "--overwrite", library=library, clock=12, log=log)
    calls = [line.split()[1] for line in log.read_text().splitlines()]
    file.write_bytes(before)
    for n in range(1, calls.index("rename") + 2):
        assert faults.run(tmp_path, "--overwrite", library=library, clock=12, kill=n).returncode == -signal.SIGKILL
        assert file.read_bytes() == before
    faults.run(tmp_path, "--overwrite", library=library, clock=12, kill=calls.index("rename") + 4)
    assert file.read_bytes() != before


def test_killed_at_random_moments(tmp_path):
    """By the clock, from outside: also within HDF5, within the kernel's write, anywhere."""
    faults.write_config(tmp_path, points=(60, 60, 60), sweeps=4000, every=10)
    # a whole run would take long; its first snapshots are enough for the comparison
    assert faults.run(tmp_path, "--set", "time.sweeps=400").returncode == 0
    file = tmp_path / "out/run.h5"
    with h5py.File(file) as f:
        expected = f["temperature"][:]
    random.seed(2)
    steps, longest = [], 0.8  # s
    while len(steps) < KILLS or len(set(steps)) < 2:  # at different stages
        assert len(steps) < 8 * KILLS
        if len(steps) % KILLS == KILLS - 1:  # on a machine so slow that all kills came during the first snapshots
            longest *= 2
        file.unlink()
        process = start(tmp_path, "run", "case.cfg", "--quiet", stderr=None)
        wait_for(file, process)
        time.sleep(random.uniform(0.0, longest))
        process.kill()
        assert process.wait() in (-signal.SIGKILL, 0)
        with h5py.File(file) as f:
            count = min(len(f["time"]), len(expected))
            assert f["temperature"].shape[0] == len(f["time"]) == len(f["sweep"])
            assert np.array_equal(f["sweep"][:count], 10 * np.arange(count))
            assert np.array_equal(f["temperature"][:count], expected[:count])
            f["temperature"][-1]  # the last one can be read
        steps.append(count)


def test_any_call_that_fails_ends_the_run(whole, library, tmp_path):
    """Each call in turn fails: exit 3 with the file and the cause; what was written before stays readable."""
    compression, expected, calls = whole
    faults.write_config(tmp_path, sweeps=25, compression=compression, history_every=5)
    file = tmp_path / "out/run.h5"
    left = set()
    for n in range(1, len(calls) + 1):
        file.unlink(missing_ok=True)
        log = tmp_path / f"log{n}"
        result = faults.run(tmp_path, library=library, clock=12, log=log, fail=n)
        call = [line.split()[1] for line in log.read_text().splitlines()][n - 1 : n]
        if call in ([], ["ftruncate"]):  # no nth call, or the file is too long or too short for now
            assert result.returncode == 0 and assert_part_of(faults.datasets(file), expected) == len(expected["sweep"])
        else:
            assert result.returncode == 3, (n, call, result.stderr)
            assert "out/run" in result.stderr and "Input/output error" in result.stderr, (n, call, result.stderr)
        left.add(assert_part_of(faults.datasets(file), expected) if file.exists() else 0)
    assert left >= set(range(len(expected["sweep"])))


def test_a_limit_on_the_size_of_files(tmp_path):
    """RLIMIT_FSIZE: the signal it sends does not end the run."""
    faults.write_config(tmp_path)
    assert faults.run(tmp_path).returncode == 0
    file = tmp_path / "out/run.h5"
    expected = faults.datasets(file)
    size = file.stat().st_size
    for part in range(1, 8):
        shutil.rmtree(tmp_path / "out")
        limit = size * part // 8
        lower = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))  # noqa: E731
        result = heatsolve(tmp_path, "run", "case.cfg", "--quiet", preexec_fn=lower)
        assert result.returncode == 3, (part, result.stderr)
        assert "out/run.h5: cannot write: File too large; raise the limit on file sizes" in result.stderr
        if file.exists():
            assert_part_of(faults.datasets(file), expected)


def test_disk_full(library, tmp_path):
    """Exit 3 with the bytes needed and free; what was written before stays readable."""
    faults.write_config(tmp_path)
    assert faults.run(tmp_path).returncode == 0
    file = tmp_path / "out/run.h5"
    expected = faults.datasets(file)
    size = file.stat().st_size
    left = set()
    for part in range(1, 12):
        shutil.rmtree(tmp_path / "out")
        result = faults.run(tmp_path, library=library, clock=12, space=size * part // 8)
        assert result.returncode == 3, (part, result.stderr)
        assert "out/run.h5: cannot write: No space left on device" in result.stderr
        assert "bytes are needed and" in result.stderr
        if file.exists():
            left.add(assert_part_of(faults.datasets(file), expected))
            assert "what was written before stays readable" in result.stderr
        else:
            left.add(0)
            assert not list((tmp_path / "out").iterdir())  # nothing unfinished is left behind
            assert "stays readable" not in result.stderr
    assert len(left) > 2


def test_snapshots_before_the_disk_was_full_are_shown(tmp_path):
    """Also those of the last quarter of a second, and a run that was through by then reports no more of them."""
    faults.write_config(tmp_path, points=(40, 40, 40), sweeps=40, every=5)
    limit = 3_400_000  # bytes; a snapshot has 512,000
    lower = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))  # noqa: E731
    result = heatsolve(tmp_path, "run", "case.cfg", "--json", preexec_fn=lower)
    assert result.returncode == 3 and "what was written before stays readable" in result.stderr
    with h5py.File(tmp_path / "out/run.h5") as f:
        assert len(f["sweep"]) == 6
        assert np.isfinite(f["temperature"][()]).all()
    assert json.loads(result.stdout).get("snapshots", 6) == 6  # left out if the error came before the end
    assert heatsolve(tmp_path, "run", "case.cfg", "--quiet", "--resume").returncode == 0


def test_a_disk_full_from_the_start_ends_a_long_run(library, tmp_path):
    """The error comes soon, with nothing else due for days: the first snapshot is written during the sweeps."""
    faults.write_config(tmp_path, sweeps=10**12, every=10**12, history_every=10**12)
    result = faults.run(tmp_path, library=library, space=3000)
    assert result.returncode == 3, result.stderr
    assert "out/run.h5: cannot write: No space left on device" in result.stderr
    assert not list((tmp_path / "out").iterdir())


def mounted(directory, size):
    """Mounts a small file system; True if that is permitted."""
    directory.mkdir()
    result = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", directory], capture_output=True)
    return result.returncode == 0


NEEDED = re.compile(r"(?:--set|case\.cfg:\d+): (\S+)(?: = (\S+))?: that is (\d+ \w+(?: more)?), at least (\d+) bytes \(.*\) in out/run\.h5, where (\d+) ")


def refused(tmp_path, library, *arguments, free=0):
    """The refusal of a run that would not fit: (key, value, how many of what, bytes needed, bytes free)."""
    before = sorted(str(p) for p in tmp_path.rglob("*"))
    result = faults.run(tmp_path, *arguments, library=library, free=free)
    assert result.returncode == 3, result.stderr
    assert sorted(str(p) for p in tmp_path.rglob("*")) == before  # neither the file nor its directory
    key, value, count, needed, space = NEEDED.search(result.stderr).groups()
    return key, value, count, int(needed), int(space)


@pytest.mark.parametrize("config, more, cause", [
    (dict(points=(40, 40, 40)), [], ("output.every", "5", "9 snapshots")),
    (dict(points=(30, 31, 32), precision="float"), ["--set", "output.interval=0.3", "--set", "output.every=-"], ("output.interval", "0.3", "15 snapshots")),
    (dict(points=(64, 64)), ["--set", "output.every=-"], ("grid.points", None, "2 snapshots")),
    (dict(points=(40, 40, 40), compression=9), [], ("output.every", "5", "9 snapshots")),
    (dict(points=(9,), sweeps=30000, every=10000, history_every=1), [], ("output.history_every", "1", "30001 rows")),
    (dict(points=(40,), sweeps=30000, every=7, history_every=4), [], ("output.every", "7", "4287 snapshots")),
], ids=["every", "interval", "first and last", "compressed", "history", "thin"])
def test_a_run_that_cannot_fit_does_not_begin(library, tmp_path, config, more, cause):
    """Exact to the byte. No run that would fit is refused: the file takes more than the bytes asked for."""
    faults.write_config(tmp_path, **config)
    if "output.every=-" in more:
        case = tmp_path / "case.cfg"
        case.write_text(case.read_text().replace(" every = 5;", ""))
        more = more[:-2]
    key, value, count, needed, space = refused(tmp_path, library, *more)
    assert (key, value, count) == cause and space == 0
    assert refused(tmp_path, library, *more, free=needed - 1)[3:] == (needed, needed - 1)
    result = faults.run(tmp_path, *more, library=library, free=needed)
    assert result.returncode == 0, result.stderr
    file = tmp_path / "out/run.h5"
    assert needed <= file.stat().st_size
    if len(config["points"]) > 1 and not config.get("compression"):  # mostly fields
        # the rest are names, some 90 kB with the history's columns, twice: replaced tables remain in the file
        assert needed >= 0.5 * file.stat().st_size or file.stat().st_size - needed < 200e3
    # a new file replaces this one
    there = 512 * file.stat().st_blocks
    if there < needed:
        assert refused(tmp_path, library, "--overwrite", *more, free=needed - 1 - there)[4] == needed - 1
    assert faults.run(tmp_path, "--overwrite", *more, library=library, free=max(needed - there, 0)).returncode == 0


def test_a_run_that_goes_on_needs_room_for_what_is_left(library, tmp_path):
    """Ten snapshots for the last ten sweeps, after 40 sweeps with none in between."""
    faults.write_config(tmp_path, points=(20, 20, 20), sweeps=40, every=40)
    assert faults.run(tmp_path).returncode == 0
    file = tmp_path / "out/run.h5"
    before = file.read_bytes()
    more = ["--resume", "--set", "time.sweeps=50", "--set", "output.every=1"]
    key, value, count, needed, _ = refused(tmp_path, library, *more)
    assert (key, value, count) == ("output.every", "1", "10 snapshots more") and 10 * 64000 <= needed < 11 * 64000
    refused(tmp_path, library, *more, free=needed - 1)
    assert file.read_bytes() == before
    assert faults.run(tmp_path, *more, library=library, free=needed).returncode == 0
    assert file.stat().st_size - len(before) >= needed
    assert refused(tmp_path, library, "--overwrite", *more[1:])[2] == "51 snapshots"  # a new run needs more


def test_a_run_that_may_end_early_begins_anyhow(library, tmp_path):
    faults.write_config(tmp_path)
    steady = ["--set", "steady.tolerance=1e9", "--set", "steady.check_every=10"]
    result = faults.run(tmp_path, *steady, library=library, free=0)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("more", [[], ["--set", "output.compression=9"], ["--set", "time.sweeps=9007199254740992"]])
def test_a_mistyped_interval_is_refused_on_any_disk(tmp_path, more):
    """1e12 snapshots, and the largest number that can be counted; the number of bytes does not overflow."""
    faults.write_config(tmp_path, points=(40, 40, 40))
    case = tmp_path / "case.cfg"
    text = case.read_text().replace("every = 5", "interval = 1e-12").replace("step = 0.1", "safety = 0.9")
    case.write_text(text if "time.sweeps" in str(more) else text.replace("sweeps = 40", "end = 1.0"))
    result = faults.run(tmp_path, *more)
    assert result.returncode == 3 and not (tmp_path / "out").exists()
    assert "case.cfg:9: output.interval = 1e-12: that is " in result.stderr and "give a longer one" in result.stderr
    assert ("or output.compression" in result.stderr) == ("compression" not in str(more))
    assert int(NEEDED.search(result.stderr).group(4)) > 1e14


def test_check_says_that_a_run_would_not_fit(library, tmp_path):
    faults.write_config(tmp_path)
    said = [faults.run(tmp_path, *form, library=library, free=12345, command="check") for form in ([], ["--json"])]
    assert all(result.returncode == 3 and "output.every = 5: that is 9 snapshots" in result.stderr for result in said)
    assert "case.cfg: too large for the disk" in said[0].stdout
    # the bytes depend on how often contents are rewritten, and so on the clock
    assert re.search(r"9 snapshots, about [0-9.]+ KiB, .*where 12.06 KiB are free", said[0].stdout)
    assert json.loads(said[1].stdout)["output_free_bytes"] == 12345
    assert faults.run(tmp_path, command="check").returncode == 0


def test_a_full_file_system(tmp_path):
    """A run that may end early is started, since its size can only be estimated."""
    disk = tmp_path / "out"
    if not mounted(disk, "2m"):
        pytest.skip("needs the right to mount a small file system")
    try:
        faults.write_config(tmp_path, points=(40, 40, 40), sweeps=40, every=5)
        assert NEEDED.search(faults.run(tmp_path).stderr) and not list(disk.iterdir())
        result = faults.run(tmp_path, "--set", "steady.tolerance=1e-300")
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
        (lambda d: (d / "out/run.h5").mkdir(parents=True), 2),  # the config is wrong already
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
