"""A run that was interrupted or killed goes on from its checkpoint to the same bits as one that was not."""

import pathlib
import random
import signal
import subprocess
import sys
import time

import h5py
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import faults  # noqa: E402

OFTEN = ("--set", "checkpoint.every_minutes=1e-3")  # 60 ms


def start(directory, *arguments):
    return subprocess.Popen(
        [faults.HEATSOLVE, "run", "case.cfg", "--quiet", *arguments],
        cwd=directory,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def wait_for(path, process):
    while not path.exists() and process.poll() is None:
        time.sleep(0.002)


def assert_same_file(a, b):
    """The datasets to the last bit; and attributes but for those of the clock, the place and the way."""
    first, second = faults.datasets(a), faults.datasets(b)
    assert set(first) == set(second)
    for name in first:
        assert first[name].dtype == second[name].dtype and first[name].shape == second[name].shape, name
        if first[name].dtype.hasobject:
            continue
        assert first[name].tobytes() == second[name].tobytes(), name
    with h5py.File(a) as f, h5py.File(b) as g:
        differing = {"started", "wall_seconds", "sweep_seconds", "config", "coefficients"}
        for key in set(f.attrs) - differing:
            assert f.attrs[key] == g.attrs[key], key
        assert (f.attrs["coefficients"] == g.attrs["coefficients"]).all()


CASES = {
    "3d": dict(points=(40, 40, 40), sweeps=2000, every=500),
    "3d float packed": dict(points=(40, 40, 40), sweeps=2000, every=500, precision="float", compression=3),
    "1d": dict(points=(500,), sweeps=60000, every=20000),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL], ids=["interrupted", "killed"])
def test_it_ends_with_the_same_bits(tmp_path, name, how):
    random.seed(name)
    for directory in ("whole", "cut"):
        faults.write_config(tmp_path / directory, **CASES[name])
    arguments = OFTEN if how == signal.SIGKILL else ()
    began = time.monotonic()
    assert faults.run(tmp_path / "whole", *arguments).returncode == 0
    took = time.monotonic() - began
    checkpoint = tmp_path / "cut/out/run.checkpoint.h5"
    file = tmp_path / "cut/out/run.h5"
    cuts, resume = 0, ()
    for _ in range(6):
        process = start(tmp_path / "cut", *arguments, *resume)
        wait_for(checkpoint if how == signal.SIGKILL else file, process)
        time.sleep(random.uniform(0.0, took / 4))
        process.send_signal(how)
        status = process.wait()
        message = process.stderr.read().decode()
        if status == 0:
            break
        assert status == (130 if how == signal.SIGINT else -how), message
        assert checkpoint.exists() or (tmp_path / "cut/out/run.checkpoint.1.h5").exists()
        cuts += 1
        resume = ("--resume",)
    else:
        result = faults.run(tmp_path / "cut", *arguments, "--resume")
        assert result.returncode == 0, result.stderr
    assert cuts >= 1
    assert_same_file(tmp_path / "whole/out/run.h5", file)
    assert sorted(p.name for p in (tmp_path / "cut/out").iterdir()) in (
        ["run.h5", "run.xdmf"],
        ["run.checkpoint.h5.part", "run.h5", "run.xdmf"],  # what a kill cut short, to be overwritten
    )


@pytest.fixture
def stopped(tmp_path):
    """A run that was interrupted twice, so that there are two checkpoints."""
    faults.write_config(tmp_path, points=(40, 40, 40), sweeps=20000, every=5000)
    for resume in ((), ("--resume",)):
        process = start(tmp_path, *resume)
        wait_for(tmp_path / "out/run.h5", process)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
    return tmp_path


def sweep_of(path):
    with h5py.File(path) as f:
        return f.attrs["sweep"]


def test_the_last_two_are_kept(stopped):
    newer, older = stopped / "out/run.checkpoint.h5", stopped / "out/run.checkpoint.1.h5"
    assert 0 < sweep_of(older) <= sweep_of(newer) < 20000
    with h5py.File(stopped / "out/run.h5") as f:
        assert f.attrs["status"] == "stopped" and f.attrs["finished"] == 0
        assert f["sweep"][-1] == sweep_of(newer)  # the state it was stopped in can be looked at


@pytest.mark.parametrize("harm", ["cut short", "a bit of the field", "gone"])
def test_the_older_one_is_used_when_the_newest_is_not_whole(stopped, harm):
    newer, older = stopped / "out/run.checkpoint.h5", stopped / "out/run.checkpoint.1.h5"
    content = bytearray(newer.read_bytes())
    if harm == "cut short":
        newer.write_bytes(content[:-100])
    elif harm == "a bit of the field":
        content[2048 + 8 * 40 * 40 * 20] ^= 1
        newer.write_bytes(content)
    else:
        newer.unlink()
    again = start(stopped, "--resume")
    time.sleep(0.4)
    again.send_signal(signal.SIGINT)
    assert again.wait() == 130, again.stderr.read()
    assert sweep_of(older) > 0
    older.unlink()
    newer.write_bytes(b"not a checkpoint")
    result = faults.run(stopped, "--resume")
    assert result.returncode == 3
    assert "no checkpoint to resume from" in result.stderr and "--resume" in result.stderr


def test_another_config_is_refused(stopped):
    before = (stopped / "out/run.h5").read_bytes()
    result = faults.run(stopped, "--resume", "--set", "material.diffusivity=5e-5")
    assert result.returncode == 2
    assert "belongs to another config" in result.stderr
    assert (stopped / "out/run.h5").read_bytes() == before


def test_the_file_of_another_run_is_refused(stopped):
    """The checkpoint goes on at a sweep whose snapshots the file must have."""
    with h5py.File(stopped / "out/run.h5", "w") as f:
        f["temperature"] = [1.0]
    result = faults.run(stopped, "--resume")
    assert result.returncode in (2, 3)
    assert "run without --resume" in result.stderr


def test_without_a_checkpoint(tmp_path):
    faults.write_config(tmp_path)
    result = faults.run(tmp_path, "--resume")
    assert result.returncode == 3
    assert "no checkpoint to resume from" in result.stderr
    assert not (tmp_path / "out/run.h5").exists()


def test_a_new_run_forgets_old_checkpoints(stopped):
    assert faults.run(stopped, "--set", "time.sweeps=10").returncode == 0
    assert sorted(p.name for p in (stopped / "out").iterdir()) == ["run.h5", "run.xdmf"]
