"""A run that was interrupted or killed goes on from its checkpoint to the same bits as an uninterrupted one."""

import fcntl
import json
import os
import pathlib
import random
import re
import shutil
import signal
import struct
import subprocess
import time
import typing
import zlib

import faults
import h5py
import numpy as np
import program
import pytest
import sums
from program import must, snapshots_in, wait_for

OFTEN = ("--set", "checkpoint.every_minutes=1e-3")  # 60 ms


def start(directory, *arguments):
    return program.start(directory, "run", "case.cfg", "--quiet", *arguments)


def wait_until_it_listens(process):
    """The output of a resumed run exists from the start. An interrupt before its handler is set just ends the run, with
    nothing begun."""
    status = pathlib.Path(f"/proc/{process.pid}/status")
    while process.poll() is None:
        caught = int(re.search(r"SigCgt:\s*(\w+)", status.read_text())[1], 16)
        if caught >> (signal.SIGINT - 1) & 1:
            return
        time.sleep(0.002)


def interrupt(process, seconds=0.0):
    """Interrupts the run after so many seconds of work; it saves its state."""
    wait_until_it_listens(process)
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    assert process.wait() == 130, process.stderr.read()


def assert_same_datasets(a, b):
    first, second = faults.datasets(a), faults.datasets(b)
    assert set(first) == set(second)
    for name in first:
        assert first[name].dtype == second[name].dtype and first[name].shape == second[name].shape, name
        if first[name].dtype.hasobject:
            continue
        assert first[name].tobytes() == second[name].tobytes(), name


def assert_same_file(a, b):
    """The same datasets to the last bit, and the same attributes but for those of the clock, the place and the
    command."""
    assert_same_datasets(a, b)
    with h5py.File(a) as f, h5py.File(b) as g:
        differing = {"started", "wall_seconds", "sweep_seconds", "config", "coefficients"}
        for key in set(f.attrs) - differing:
            assert np.array_equal(f.attrs[key], g.attrs[key], equal_nan=key in ("end", "interval")), key
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
    for _ in range(9):
        process = start(tmp_path / "cut", *arguments, *resume)
        wait_for(checkpoint if how == signal.SIGKILL else file, process)
        wait_until_it_listens(process)
        time.sleep(random.uniform(0.0, took / 4))
        process.send_signal(how)
        status = process.wait()
        message = process.stderr.read().decode()
        assert status in (0, 130 if how == signal.SIGINT else -how), message
        resumable = checkpoint.exists() or (tmp_path / "cut/out/run.checkpoint.1.h5").exists()
        # a kill may also come when the run is done and its checkpoints are removed, just before the process ends
        ended = status == 0 or (how == signal.SIGKILL and not resumable)
        if ended and cuts == 0:  # the timed run was slower, on a busy machine: try earlier
            took /= 2
            file.unlink()
            continue
        if ended:
            break
        assert resumable
        cuts += 1
        resume = ("--resume",)
    else:
        result = faults.run(tmp_path / "cut", *arguments, "--resume")
        assert result.returncode == 0, result.stderr
    assert cuts >= 1
    assert_same_file(tmp_path / "whole/out/run.h5", file)
    assert sorted(p.name for p in (tmp_path / "cut/out").iterdir()) in (
        ["run.h5", "run.xdmf"],
        ["run.checkpoint.h5.part", "run.h5", "run.xdmf"],  # a part cut short by a kill, to be overwritten
    )


def test_a_row_of_the_history_keeps_no_error_of_a_snapshot_that_goes(tmp_path):
    """Every sweep has a row, so the row of the stop is kept; its snapshot, and with it the row's error, is not."""
    for directory in ("whole", "cut"):
        faults.write_config(tmp_path / directory, points=(40, 40, 40), sweeps=10**6, every=10**6, history_every=1)
        with open(tmp_path / directory / "case.cfg", "a") as config:
            config.write('exact = { expression = "300"; max_error = 1e6; };\n')
    process = start(tmp_path / "cut")
    wait_for(tmp_path / "cut/out/run.h5", process)
    interrupt(process, 0.3)
    end = f"time.sweeps={sweep_of(tmp_path / 'cut/out/run.checkpoint.h5') + 10}"
    assert faults.run(tmp_path / "cut", "--resume", "--set", end).returncode == 0
    assert faults.run(tmp_path / "whole", "--set", end).returncode == 0
    assert_same_file(tmp_path / "whole/out/run.h5", tmp_path / "cut/out/run.h5")


@pytest.fixture
def stopped(tmp_path):
    """A run that was interrupted twice, so that there are two checkpoints. Uninterrupted it would take hours."""
    faults.write_config(tmp_path, points=(40, 40, 40), sweeps=10**8, every=10**7)
    for resume in ((), ("--resume",)):
        process = start(tmp_path, *resume)
        wait_for(tmp_path / "out/run.h5", process)
        interrupt(process, 0.3)
    return tmp_path


def assert_begins_anew(directory, refused, end="time.sweeps=10"):
    """The last remedy in the messages of --resume works."""
    assert "start over with --overwrite instead of --resume" in refused.stderr
    result = faults.run(directory, "--overwrite", "--set", end)
    assert result.returncode == 0, result.stderr
    assert sorted(p.name for p in (directory / "out").iterdir()) == ["run.h5", "run.xdmf"]


def sweep_of(path):
    with h5py.File(path) as f:
        return f.attrs["sweep"]


def snapshot_in(path):
    with h5py.File(path) as f:
        return int(f["sweep"][-1])


def test_the_last_two_are_kept(stopped):
    newer, older = stopped / "out/run.checkpoint.h5", stopped / "out/run.checkpoint.1.h5"
    assert 0 < sweep_of(older) <= sweep_of(newer) < 10**8
    with h5py.File(stopped / "out/run.h5") as f:
        assert f.attrs["status"] == "stopped" and f.attrs["finished"] == 0
        assert f["sweep"][-1] == sweep_of(newer)  # the state at the stop can be inspected


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
    interrupt(start(stopped, "--resume"), 0.3)
    assert sweep_of(older) > 0
    older.unlink()
    newer.write_bytes(content[:3000])
    result = faults.run(stopped, "--resume")
    assert result.returncode == 3
    assert "no checkpoint to resume from" in result.stderr and "--resume" in result.stderr
    assert "; remove out/run.checkpoint.h5 to continue from the last snapshot in out/run.h5" in result.stderr
    copy = shutil.copytree(stopped, stopped / "copy")
    assert_begins_anew(copy, result)
    newer.unlink()
    end = f"time.sweeps={snapshot_in(stopped / 'out/run.h5') + 10}"
    assert faults.run(stopped, "--resume", "--set", end).returncode == 0


class Once(typing.NamedTuple):
    directory: pathlib.Path
    cadence: dict  # arguments of write_config for the same run
    sweep: int  # of the checkpoint


@pytest.fixture(scope="module")
def once(tmp_path_factory):
    """A run interrupted after its second snapshot, at a sweep where no output was due; tests copy it.

    A run checks for a signal every quarter of a second, and whenever output is due: the intervals are made longer until
    an interrupt falls between two outputs.
    """
    for longer in (2, 8, 32, 128, 512):
        directory = tmp_path_factory.mktemp("once")
        cadence = dict(points=(30, 30, 30), sweeps=10**8, every=6000 * longer, history_every=4500 * longer)
        faults.write_config(directory, **cadence)
        process = start(directory)
        file = directory / "out/run.h5"
        while process.poll() is None and not (file.exists() and snapshots_in(file) >= 2):
            time.sleep(0.01)
        interrupt(process)
        sweep = sweep_of(directory / "out/run.checkpoint.h5")
        if sweep % cadence["every"] != 0 and sweep % cadence["history_every"] != 0:
            return Once(directory, cadence, int(sweep))
    pytest.fail("no interrupt came where nothing was due")


@pytest.fixture
def cut(once, tmp_path):
    """A copy of `once` that may be changed."""
    return once._replace(directory=shutil.copytree(once.directory, tmp_path / "cut"))


@pytest.mark.parametrize(
    "setting, key, value, before",
    [
        ('precision="float"', "precision", "float", "not set"),
        ("grid.points=[30,30,31]", "grid.points[2]", "31", "30"),
        ("grid.spacing=0.02", "grid.spacing", "0.02", "0.01"),
        ("material.diffusivity=5e-5", "material.diffusivity", "5e-05", "0.0001"),
        ("stencil.radius=2", "stencil.radius", "2", "not set"),
        ('initial.expression="0"', "initial.expression", "0", "100*sin(40*x)"),
        ("source.value=1.0", "source.value", "1", "not set"),
        ('boundary.x_max={type="reflective";}', "boundary.x_max.type", "reflective", "not set"),
        ('boundary.all.value="20+2*t"', "boundary.all.value", "20+2*t", "20+t"),
        ("probes[0].at=[0.02,0.03,0.03]", "probes[0].at[0]", "0.02", "0.03"),
        ("output.compression=1", "output.compression", "1", "not set"),
        ('exact.expression="0"', "exact.expression", "0", "not set"),
    ],
)
def test_what_the_fields_depend_on_may_not_change(once, setting, key, value, before):
    file = once.directory / "out/run.h5"
    content = file.read_bytes()
    result = faults.run(once.directory, "--resume", "--set", setting)
    assert result.returncode == 2, result.stderr
    assert f"belongs to another run: {key} is {value}" in result.stderr
    assert f"and was {before}; resume with" in result.stderr
    assert file.read_bytes() == content


@pytest.mark.parametrize(
    "setting",
    [
        'title="another"',
        'temperature_unit="degC"',
        "time.safety=0.5",
        "solver.threads=2",
        'solver.kernel="reference"',
        'solver.backend="cpu"',
        "output.every=7",
        "output.history_every=3",
        "checkpoint.every_minutes=5.0",
        "steady={tolerance=1e-30;}",
    ],
)
def test_what_they_do_not_depend_on_may_change(cut, setting):
    directory, _, sweep = cut
    result = faults.run(directory, "--resume", "--set", f"time.sweeps={sweep + 20}", "--set", setting)
    # a steady state that is not reached is a failed check at the end of a run that did continue
    assert result.returncode == (1 if "steady" in setting else 0), result.stderr
    with h5py.File(directory / "out/run.h5") as f:
        assert f["sweep"][-1] == sweep + 20
        assert f.attrs["status"] == ("not steady" if "steady" in setting else "finished")


def test_the_same_in_other_words(cut):
    directory, _, sweep = cut
    config = directory / "case.cfg"
    text = config.read_text().replace("diffusivity = 1e-4", "diffusivity = 0.0001").replace("[30, 30, 30]", "(30,30,3e1)")
    text = text.replace('title = "crash";', "") + '\n# a comment\nstencil = { radius = 1; };\ntitle = "moved";\n'
    config.write_text(text)
    result = faults.run(directory, "--resume", "--set", f"time.sweeps={sweep + 5}")
    assert result.returncode == 0, result.stderr


def test_a_run_is_extended_to_the_bits_of_a_longer_one(cut, tmp_path):
    """With another end and another title; the history's rows stay as they were."""
    directory, cadence, sweep = cut
    more = ("--set", f"time.sweeps={sweep + 700}")
    assert faults.run(directory, "--resume", *more, "--set", 'title="longer"').returncode == 0
    faults.write_config(tmp_path / "whole", **cadence)
    assert faults.run(tmp_path / "whole", *more, "--set", 'title="longer"').returncode == 0
    assert_same_file(tmp_path / "whole/out/run.h5", directory / "out/run.h5")


def test_another_cadence_goes_on_behind_the_old_one(cut):
    directory, cadence, sweep = cut
    every = sweep // 3 + 1  # neither the old value nor a divisor of it
    more = ("--set", f"time.sweeps={sweep + 2 * every}", "--set", f"output.every={every}")
    assert faults.run(directory, "--resume", *more).returncode == 0
    with h5py.File(directory / "out/run.h5") as f:
        sweeps = list(f["sweep"])
        rows = list(f["history/sweep"])
    old = list(range(0, sweep + 1, cadence["every"]))
    new = [s for s in range(0, sweep + 2 * every, every) if s > sweep]
    assert sweeps == old + new + [sweep + 2 * every]
    assert sorted(set(rows)) == rows and set(sweeps) <= set(rows)
    assert set(range(0, sweep + 2 * every, cadence["history_every"])) <= set(rows)


def test_an_end_that_changes_the_steps_is_refused_with_one_that_does_not(tmp_path):
    """Without an interval, automatic steps are equal parts of the end."""
    faults.write_config(tmp_path, points=(200,))
    config = tmp_path / "case.cfg"
    text = config.read_text().replace("time = { sweeps = 40; step = 0.1; };", "time = { end = 1e6; };")
    config.write_text(text.replace("every = 5; history_every = 2;", ""))
    process = start(tmp_path)
    wait_for(tmp_path / "out/run.h5", process)
    interrupt(process, 0.3)
    with h5py.File(tmp_path / "out/run.checkpoint.h5") as f:
        sweep, then, step = f.attrs["sweep"], f.attrs["time"], f.attrs["step"]
    result = faults.run(tmp_path, "--resume", "--set", f"time.end={then + 100.3 * step!r}")
    assert result.returncode == 2
    assert f"sweep {sweep}, where the run continues, would be at t = " in result.stderr
    result = faults.run(tmp_path, "--resume", *advice_of(result))
    assert result.returncode == 0, result.stderr
    with h5py.File(tmp_path / "out/run.h5") as f:
        assert f["sweep"][-1] == sweep + 101
        assert abs(f["time"][-1] - (then + 101 * step)) < 1e-6 * step


def test_an_end_before_the_checkpoint_is_refused(cut):
    directory, _, sweep = cut
    result = faults.run(directory, "--resume", "--set", f"time.sweeps={sweep - 1}")
    assert result.returncode == 2
    assert f"the run has reached sweep {sweep}" in result.stderr
    assert advice_of(result) == ["--set", f"time.sweeps={sweep + 1}"]
    assert faults.run(directory, "--resume", *advice_of(result)).returncode == 0


@pytest.mark.parametrize("which", ["checkpoint", "output"])
def test_a_file_of_the_form_before_is_refused(cut, which):
    """As versions 1 and 2 wrote them: no form, or a smaller one, and another name for the fingerprint."""
    checkpoint, output = cut.directory / "out/run.checkpoint.h5", cut.directory / "out/run.h5"
    if which == "output":
        checkpoint.unlink()
    sums.strip(checkpoint if which == "checkpoint" else output)
    with h5py.File(checkpoint if which == "checkpoint" else output, "r+") as f:
        f.attrs["identity"] = f.attrs["fingerprint"]
        for name in ("form", "fingerprint"):
            del f.attrs[name]
    before = output.read_bytes()
    result = faults.run(cut.directory, "--resume")
    assert result.returncode == 2
    assert "it was written by heatsolve" in result.stderr and "in another form" in result.stderr
    assert output.read_bytes() == before
    assert_begins_anew(cut.directory, result)


def test_the_file_of_another_run_is_refused(stopped):
    """Nor does the run go on with another program's file that has taken its place."""
    with h5py.File(stopped / "out/run.h5", "w") as f:
        f["temperature"] = [1.0]
    result = faults.run(stopped, "--resume")
    assert result.returncode == 3
    assert "out/run.h5: this is a file that heatsolve did not write" in result.stderr
    with h5py.File(stopped / "out/run.h5") as f:
        assert list(f) == ["temperature"]


@pytest.fixture(scope="module")
def other(once, tmp_path_factory):
    """Outputs of runs other than the interrupted one, by their difference."""
    kinds = {
        "material": ("material.diffusivity=5e-5",),
        "steps": ("time.step=0.05",),  # not part of a run's identity: the same sweeps at other times
        "cadence": (f"output.every={once.cadence['every'] // 2}",),
        "rows": (f"output.history_every={once.cadence['history_every'] // 2}",),
        "end": (),  # long before the checkpoint
        "nothing": (),
    }
    files = {}
    for kind, settings in kinds.items():
        directory = tmp_path_factory.mktemp("other")
        faults.write_config(directory, **once.cadence)
        end = once.cadence["history_every"] // 2 if kind == "end" else once.sweep + 10
        for setting in (*settings, f"time.sweeps={end}"):
            settings = (*settings, setting) if setting not in settings else settings
        arguments = [part for setting in settings for part in ("--set", setting)]
        assert faults.run(directory, *arguments).returncode == 0
        files[kind] = directory / "out/run.h5"
    return files


@pytest.mark.parametrize(
    "kind, message",
    [
        ("material", "out/run.h5: it belongs to another run: material.diffusivity is 0.0001, and was 5e-05"),
        ("steps", "of the checkpoint's run; put back the file that belongs to the checkpoint"),
        ("cadence", "of the checkpoint's run; put back the file that belongs to the checkpoint"),
        ("rows", "of the checkpoint's run; put back the file that belongs to the checkpoint"),
        ("end", "of the checkpoint's run; put back the file that belongs to the checkpoint"),
    ],
)
def test_a_checkpoint_goes_on_with_its_own_output_only(cut, other, kind, message):
    output = cut.directory / "out/run.h5"
    own = output.read_bytes()
    shutil.copy(other[kind], output)
    end = f"time.sweeps={cut.sweep + 20}"
    result = faults.run(cut.directory, "--resume", "--set", end)
    assert result.returncode == 2, result.stderr
    assert message in result.stderr and "start over with --overwrite" in result.stderr
    assert output.read_bytes() == other[kind].read_bytes()
    output.write_bytes(own)  # the remedy: put back its own file
    assert faults.run(cut.directory, "--resume", "--set", end).returncode == 0


def test_a_checkpoint_goes_on_with_the_output_of_the_same_config(cut, other, tmp_path):
    """It does not matter when that run was made: the bits are the same."""
    end = ("--set", f"time.sweeps={cut.sweep + 20}")
    shutil.copytree(cut.directory, tmp_path / "own")
    assert faults.run(tmp_path / "own", "--resume", *end).returncode == 0
    shutil.copy(other["nothing"], cut.directory / "out/run.h5")
    result = faults.run(cut.directory, "--resume", *end)
    assert result.returncode == 0, result.stderr
    assert_same_file(tmp_path / "own/out/run.h5", cut.directory / "out/run.h5")


@pytest.mark.parametrize("name, value", [("sweep", -1), ("sweep", -(2**62)), ("snapshots", -1), ("rows", -5),
                                         ("time", float("nan")), ("time", float("inf")), ("step", -0.1),
                                         ("step", float("nan"))])  # fmt: skip
def test_a_checkpoint_of_no_place_is_refused(cut, name, value):
    """As if heatsolve had written it: its checksums are right."""
    checkpoint = cut.directory / "out/run.checkpoint.h5"
    with h5py.File(checkpoint, "r+") as f:
        f.attrs.modify(name, type(f.attrs[name])(value))
    sums.renew(checkpoint)
    result = faults.run(cut.directory, "--resume")
    assert result.returncode == 3, result.stderr
    assert "cannot read its position: no run can be there" in result.stderr
    assert "; remove out/run.checkpoint.h5 to continue from the last snapshot in out/run.h5" in result.stderr
    checkpoint.unlink()
    end = f"time.sweeps={snapshot_in(cut.directory / 'out/run.h5') + 10}"
    assert faults.run(cut.directory, "--resume", "--set", end).returncode == 0


@pytest.mark.parametrize("checkpoint", [True, False])
@pytest.mark.parametrize("name, values", [("sweep", [-1]), ("sweep", [7, 6]), ("time", [float("nan")]),
                                          ("time", [2.0, 1.0]), ("history/sweep", [-1]),
                                          ("history/time", [float("-inf")])])  # fmt: skip
def test_an_output_of_no_place_is_refused(cut, name, values, checkpoint):
    output = cut.directory / "out/run.h5"
    if not checkpoint:
        (cut.directory / "out/run.checkpoint.h5").unlink()
    with h5py.File(output, "r+") as f:
        last = len(f[name]) if not checkpoint else 2
        f[name][last - len(values) : last] = values
    sums.renew(output)
    result = faults.run(cut.directory, "--resume")
    assert result.returncode == 3, result.stderr
    assert "cannot read" in result.stderr and "start over with --overwrite" in result.stderr


def test_without_a_checkpoint(tmp_path):
    faults.write_config(tmp_path)
    result = faults.run(tmp_path, "--resume")
    assert result.returncode == 3
    assert "no checkpoint to resume from" in result.stderr and len(result.stderr.splitlines()) == 1  # none of HDF5's
    assert not (tmp_path / "out/run.h5").exists()
    assert_begins_anew(tmp_path, result)


def test_a_new_run_forgets_old_checkpoints(stopped):
    assert faults.run(stopped, "--overwrite", "--set", "time.sweeps=10").returncode == 0
    assert sorted(p.name for p in (stopped / "out").iterdir()) == ["run.h5", "run.xdmf"]


TIMES = """
grid = { points = [30, 30]; spacing = 0.01; };
material = { diffusivity = 1e-4; };
initial = { expression = "100*sin(40*x)"; };
source = { expression = "1e2*exp(-((x-0.01*t)^2+y^2)/0.01)"; };
boundary = { all = { type = "dirichlet"; value = "20+t"; }; };
time = { end = 5.0; };
output = { file = "out/run.h5"; %s };
"""


def write_times(directory, output="interval = 1.0;"):
    directory.mkdir()
    (directory / "case.cfg").write_text(TIMES % output)
    return directory


def times_in(directory):
    with h5py.File(directory / "out/run.h5") as f:
        return [round(t, 9) for t in f["time"]]


@pytest.mark.parametrize("first, dropped", [(3.0, False), (3.3, True)], ids=["whole intervals", "cut steps"])
@pytest.mark.parametrize("precision", ["float", "double"])
def test_a_finished_run_is_extended_to_the_bits_of_a_longer_one(tmp_path, precision, first, dropped):
    """The run resumes from its last snapshot, or from the one before if steps were shortened to reach the last one."""
    of = ("--set", f'precision="{precision}"')
    whole, cut = write_times(tmp_path / "whole"), write_times(tmp_path / "cut")
    assert faults.run(whole, *of).returncode == 0
    assert faults.run(cut, *of, "--set", f"time.end={first}").returncode == 0
    assert times_in(cut) == [0, 1, 2, 3] + [first] * dropped
    for end in (first, 4.3, 5.0):
        result = faults.run(cut, *of, "--resume", "--set", f"time.end={end}")
        assert result.returncode == 0, result.stderr
        assert times_in(cut)[-1] == end
    assert_same_file(whole / "out/run.h5", cut / "out/run.h5")
    assert sorted(p.name for p in (cut / "out").iterdir()) == ["run.h5", "run.xdmf"]


ROD = """
grid = { points = [11]; upper = [1.0]; };
material = { diffusivity = 0.01; };
initial = { expression = "300+exp(x)*sin(7*x)"; };
boundary = { all = { type = "reflective"; }; };
output = { file = "out/run.h5"; %s };
"""

# output, time settings, first end, later end
RKL2 = 'time.method="rkl2"'
NEARLY = {
    "a step that is nearly the intervals'": ("interval = 0.25;", ["time.step=0.05000005"], 0.30000004, 0.5),
    "0.6 - 0.5 and 0.25/5": ("interval = 0.25;", ["time.step=0.06", RKL2], 0.6, 1.6),
    "0.3 - 0.2 and 0.2/4": ("interval = 0.2;", ["time.step=0.06", RKL2], 0.3, 0.6),
    "0.4 - 0.3 and 0.3/6": ("interval = 0.3;", ["time.step=0.05"], 0.4, 0.6),
    "0.4/8 and 0.6/12": ("", ["time.step=0.05", RKL2], 0.4, 0.6),
    "two tails of 0.055": ("interval = 1.0;", ["time.step=0.06", RKL2], 1.11, 1.22),
}


@pytest.mark.parametrize("case", NEARLY)
def test_steps_that_differ_by_a_rounding_are_not_gone_on_with(tmp_path, case):
    """Either the steps have the same bits in both runs, or the run resumes from the snapshot before."""
    output, time_, first, end = NEARLY[case]
    for name in ("whole", "cut"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "case.cfg").write_text(ROD % output)
    of = settings(time_)
    assert faults.run(tmp_path / "whole", *of, "--set", f"time.end={end!r}").returncode == 0
    assert faults.run(tmp_path / "cut", *of, "--set", f"time.end={first!r}").returncode == 0
    result = faults.run(tmp_path / "cut", *of, "--resume", "--set", f"time.end={end!r}")
    assert result.returncode == 0, result.stderr
    with h5py.File(tmp_path / "whole/out/run.h5") as f, h5py.File(tmp_path / "cut/out/run.h5") as g:
        assert f["sweep"][-1] == g["sweep"][-1] and f["time"][-1] == g["time"][-1]
        assert (f["temperature"][-1] == g["temperature"][-1]).all()


def test_automatic_steps_that_differ_by_a_rounding_are_told(tmp_path):
    """0.7/2 is not 2.1/6 (the limit is 0.5). The remedy gives the bits of a run with that step from the start."""
    for name in ("whole", "cut"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "case.cfg").write_text(ROD % "" + "time = { safety = 0.72; };")
    assert faults.run(tmp_path / "cut", "--set", "time.end=0.7").returncode == 0
    result = faults.run(tmp_path / "cut", "--resume", "--set", "time.end=2.1")
    assert result.returncode == 2
    assert "sweep 2, where the run continues, would not be the same to the bit at t = 0.7 s" in result.stderr
    assert "these steps are of 0.35000000000000003 s and the run's were of 0.34999999999999998 s" in result.stderr
    longer = ["--set", "time.end=2.1", *advice_of(result)]
    assert faults.run(tmp_path / "cut", "--resume", *longer).returncode == 0
    assert faults.run(tmp_path / "whole", *longer).returncode == 0
    with h5py.File(tmp_path / "whole/out/run.h5") as f, h5py.File(tmp_path / "cut/out/run.h5") as g:
        assert (f["temperature"][-1] == g["temperature"][-1]).all()


def test_a_last_snapshot_that_was_not_due_stays(tmp_path):
    for name in ("whole", "cut"):
        faults.write_config(tmp_path / name, sweeps=33)
    assert faults.run(tmp_path / "whole").returncode == 0
    assert faults.run(tmp_path / "cut", "--set", "time.sweeps=17").returncode == 0
    assert faults.run(tmp_path / "cut", "--resume").returncode == 0
    with h5py.File(tmp_path / "whole/out/run.h5") as f, h5py.File(tmp_path / "cut/out/run.h5") as g:
        assert list(g["sweep"]) == sorted([*f["sweep"], 17])
        for n, sweep in enumerate(f["sweep"]):
            assert (f["temperature"][n] == g["temperature"][list(g["sweep"]).index(sweep)]).all()
        assert list(g["history/sweep"]) == sorted({*f["history/sweep"], 17})


def test_a_finished_run_has_nothing_left_to_do(tmp_path):
    """A job that is resumed until it is done may be resumed once more."""
    faults.write_config(tmp_path)
    assert faults.run(tmp_path).returncode == 0
    shutil.copy(tmp_path / "out/run.h5", tmp_path / "before.h5")
    for _ in range(2):
        assert faults.run(tmp_path, "--resume").returncode == 0
        assert_same_file(tmp_path / "before.h5", tmp_path / "out/run.h5")


BALANCED = """
grid = { points = [21, 11]; upper = [1.0, 0.5]; };
material = { conductivity = 1.0; density = 1.0; specific_heat = 100.0; };
initial = { expression = "10*x*x"; };
source = { expression = "5+x"; };
boundary = { all = { type = "robin"; h = 2.0; ambient = 3.0; }; y_max = { type = "dirichlet"; value = 1.0; }; };
time = { end = 1.0; };
exact = { expression = "x"; };
output = { file = "case.h5"; interval = 0.3; };
probes = ( { name = "core"; at = [0.5, 0.25]; } );
"""
# values that only sweeps give: their times, and what rounding leaves in the balance
OF_SWEEPS = {"swept", "seconds", "reduction_seconds", "gcells", "imbalance_worst", "imbalance_largest", "imbalance_rounding"}


def test_where_nothing_is_left_to_do_json_and_summary_have_what_the_file_has(tmp_path):
    (tmp_path / "case.cfg").write_text(BALANCED)

    def told(*arguments):
        return must(tmp_path, "run", "case.cfg", *arguments)

    first, again = json.loads(told("--json")), json.loads(told("--json", "--resume"))
    assert again["swept"] == 0 and again["flux/x_min"] is not None and again["change"] > 0.0
    assert {k: v for k, v in again.items() if k not in OF_SWEEPS} == {k: v for k, v in first.items() if k not in OF_SWEEPS}
    assert "heat out     x_min " in told("--resume")


def test_a_killed_run_without_checkpoints_goes_on_from_its_last_snapshot(tmp_path):
    """It would take hours, so that the kill comes in time; both runs end some sweeps after the kill."""
    for name in ("whole", "cut"):
        faults.write_config(tmp_path / name, points=(40, 40, 40), sweeps=10**6, every=200)
    file = tmp_path / "cut/out/run.h5"
    process = start(tmp_path / "cut")
    while process.poll() is None and not (file.exists() and snapshots_in(file) >= 2):
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert snapshots_in(file) >= 2
    end = f"time.sweeps={snapshot_in(file) + 900}"
    result = faults.run(tmp_path / "cut", "--resume", "--set", end)
    assert result.returncode == 0, result.stderr
    assert faults.run(tmp_path / "whole", "--set", end).returncode == 0
    assert_same_file(tmp_path / "whole/out/run.h5", file)


@pytest.mark.parametrize(
    "setting, message",
    [
        ("time.end=2.0", "the run has reached sweep"),
        ("material.diffusivity=2e-4", "belongs to another run: material.diffusivity is 0.0002"),
    ],
)
def test_a_finished_run_is_not_taken_for_another(tmp_path, setting, message):
    directory = write_times(tmp_path / "cut")
    assert faults.run(directory).returncode == 0
    before = (directory / "out/run.h5").read_bytes()
    result = faults.run(directory, "--resume", "--set", setting)
    assert result.returncode == 2 and message in result.stderr
    assert (directory / "out/run.h5").read_bytes() == before
    if "another run" in message:
        assert_begins_anew(directory, result, "time.end=1.0")


# (output, the first run, the refused resume); the remedy that the message names is run
REFUSED = {
    "interval": ("interval = 1.0;", [], ["time.end=6", "output.interval=0.5"]),
    "interval, no multiple": ("interval = 1.0;", [], ["time.end=6.1", "output.interval=0.77"]),
    "interval beyond the end": ("interval = 1.0;", [], ["time.end=6.1", "output.interval=7.7"]),
    "a first interval": ("", [], ["time.end=6", "output.interval=0.5"]),
    "end": ("", [], ["time.end=6.1"]),
    "end of steps given": ("", ["time.step=0.15"], ["time.end=6.1"]),
    "an earlier end": ("interval = 1.0;", [], ["time.end=2.5"]),
    "an earlier end, no interval": ("", [], ["time.end=2.2"]),
    "safety": ("interval = 1.0;", [], ["time.end=6", "time.safety=0.5"]),
    "step": ("interval = 1.0;", [], ["time.end=6", "time.step=0.07"]),
    "step, end and interval": ("interval = 1.0;", [], ["time.end=6.3", "time.step=0.07", "output.interval=0.3"]),
    "sweeps": ("", ["time.sweeps=20"], ["time.sweeps=30", "time.safety=0.3"]),
    "fewer sweeps": ("", ["time.sweeps=20"], ["time.sweeps=10"]),
    "fewer sweeps, interval": ("interval = 1.0;", ["time.sweeps=20"], ["time.sweeps=10", "output.interval=0.3"]),
    "cut steps": ("interval = 1.0;", ["time.end=3.3"], ["output.interval=0.7"]),
    "cut steps, safety": ("interval = 1.0;", ["time.end=3.3"], ["output.interval=0.7", "time.safety=0.3"]),
    "every": ("interval = 1.0;", ["time.step=0.15"], ["time.end=6", "output.every=3"]),
    "steady": ("interval = 1.0;", [], ["time.end=6", "time.safety=0.5", "steady.tolerance=1e-30"]),
}


def settings(values):
    return [part for value in values for part in ("--set", value)]


def advice_of(result):
    return re.search(r": time: .*[:;] continue with ((?:--set \S+ ?)*--set \S+), or start over with --overwrite", result.stderr)[1].split()


@pytest.mark.parametrize("case", REFUSED)
def test_a_schedule_that_does_not_fit_is_answered_with_one_that_does(tmp_path, case):
    output, first, then = REFUSED[case]
    directory = write_times(tmp_path / "cut", output=output)
    assert faults.run(directory, *settings(first)).returncode == 0
    before = times_in(directory)
    then = ["--resume", *settings(then)]
    result = faults.run(directory, *then)
    assert result.returncode == 2, result.stderr
    advice = advice_of(result)
    result = faults.run(directory, *then, *advice)
    assert result.returncode == (1 if case == "steady" else 0), (advice, result.stderr)
    assert times_in(directory)[: len(before)] == before


def test_where_nothing_fits_the_message_says_so(tmp_path):
    """The last steps were shortened to end at a time, and no number of sweeps ends at that time."""
    directory = write_times(tmp_path / "cut", output="interval = 2.0;")
    assert faults.run(directory, "--set", "time.end=3.3", "--set", "output.interval=3.2").returncode == 0
    result = faults.run(directory, "--resume", "--set", "time.sweeps=60", "--set", "output.every=7")
    assert result.returncode == 2
    assert "since its last steps were shortened to end there" in result.stderr
    assert "; no time.step, output.interval and time.end were found that keep it; start over with" in result.stderr
    assert_begins_anew(directory, result, "time.end=1.0")


# ---- what a refusal names ---------------------------------------------------------------------------


def spoil(path):
    content = bytearray(path.read_bytes())
    content[sums.record_of(content)[0] + 200] ^= 1
    path.write_bytes(content)


def spoil_field(path, step):
    """A chunk of a snapshot, whose checksum then does not match."""
    with h5py.File(path) as f:
        chunks = f["temperature"].id
        infos = [chunks.get_chunk_info(n) for n in range(chunks.get_num_chunks())]
        at = next(info.byte_offset for info in infos if info.chunk_offset[0] == step % len(f["temperature"]))
    content = bytearray(path.read_bytes())
    content[at + 20] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("steps, said", [
    ((-1,), "its last snapshot is damaged; this run continues from the one at sweep 30,"),
    ((-1, -2), "its last 2 snapshots are damaged; this run continues from the one at sweep 20,"),
    ((-1, 1), "its last snapshot is damaged; this run continues from the one at sweep 30,"),
    ((0, 1, 2, 3, 4), None),
])  # fmt: skip
def test_without_a_checkpoint_a_run_goes_on_from_the_last_intact_snapshot(tmp_path, steps, said):
    faults.write_config(tmp_path, sweeps=60, every=10, precision="float", compression=3)
    whole = shutil.copytree(tmp_path, tmp_path / "whole")
    assert faults.run(whole).returncode == 0
    assert faults.run(tmp_path, "--set", "time.sweeps=40").returncode == 0
    output = tmp_path / "out/run.h5"
    for step in steps:
        spoil_field(output, step)
    harmed = output.read_bytes()
    done = program.heatsolve(tmp_path, "run", "case.cfg", "--resume")
    if said is None:
        assert done.returncode == 3 and "and no snapshot: " in done.stderr and output.read_bytes() == harmed
        assert "HDF5-DIAG" not in done.stderr
        return
    assert done.returncode == 0 and f"heatsolve: warning: out/run.h5: {said}" in done.stderr, done.stderr
    with h5py.File(output) as found, h5py.File(whole / "out/run.h5") as expected:
        assert np.array_equal(found["sweep"], expected["sweep"])
        for n in set(range(7)) - set(steps):
            assert np.array_equal(found["temperature"][n], expected["temperature"][n])
        for name in ("history/mean", "history/time", "probes/core"):
            assert np.array_equal(found[name], expected[name]), name


def cut_short(path):
    path.write_bytes(path.read_bytes()[:5000])


def copy_over(path):
    """As if copied by another program, which stores the same contents in its own way."""
    subprocess.run(["h5repack", path, path.with_suffix(".new")], check=True)
    path.with_suffix(".new").rename(path)


def older_form(path):
    with h5py.File(path, "r+") as f:
        del f.attrs["form"]
    sums.strip(path)


def of_another_program(path):
    with h5py.File(path, "w") as f:
        f["temperature"] = [1.0]


ANEW = "start over with --overwrite instead of --resume"
PUT_BACK, MOVE = "put back the file", "which is never replaced; move it away, or"
REMOVE = "; remove out/run.checkpoint.h5 to continue from the last snapshot in out/run.h5, or"
REFUSALS = [
    # what happened to which file, with or without a checkpoint; the message; what else it names
    (spoil, "run.checkpoint.h5", True, "cannot read its table of contents, which is damaged or was changed by", REMOVE),
    (cut_short, "run.checkpoint.h5", True, "cannot read", REMOVE),
    (of_another_program, "run.checkpoint.h5", True, "this is a file that heatsolve did not write", MOVE),
    (older_form, "run.checkpoint.h5", True, "it was written by heatsolve", "resume with that version"),
    (copy_over, "run.checkpoint.h5", True, "this is a file that heatsolve did not write, or can no longer", MOVE),
    (spoil, "run.h5", True, "cannot read its table of contents, which is damaged", PUT_BACK),
    (cut_short, "run.h5", True, "cannot read", PUT_BACK),
    (of_another_program, "run.h5", True, "this is a file that heatsolve did not write", MOVE),
    (older_form, "run.h5", True, "it was written by heatsolve", "resume with that version"),
    (copy_over, "run.h5", True, "another program rewrote it", PUT_BACK),
    (spoil, "run.h5", False, "no snapshot: cannot read its table of contents, which is damaged", ANEW),
    (cut_short, "run.h5", False, "no snapshot: cannot read", ANEW),
    (of_another_program, "run.h5", False, "this is a file that heatsolve did not write", MOVE),
    (older_form, "run.h5", False, "it was written by heatsolve", "resume with that version"),
    (copy_over, "run.h5", False, "another program rewrote it", PUT_BACK),
    (pathlib.Path.unlink, "run.h5", False, "no snapshot: cannot read the file, or there is none", ANEW),
    (pathlib.Path.unlink, "run.h5", True, "out/run.h5: is not there, but the checkpoint out/run.checkpoint.h5 continues it", PUT_BACK),
]


@pytest.mark.parametrize(
    "harm, name, checkpoint, message, named", REFUSALS, ids=[f"{r[0].__name__} {r[1]} {r[2]}" for r in REFUSALS]
)
def test_what_a_refusal_names_is_a_way_on(cut, harm, name, checkpoint, message, named):
    output, saved = cut.directory / "out/run.h5", cut.directory / "out/run.checkpoint.h5"
    if not checkpoint:
        saved.unlink()
    file = cut.directory / "out" / name
    own = file.read_bytes()
    harm(file)
    harmed = file.read_bytes() if file.exists() else None
    end = ("--set", f"time.sweeps={cut.sweep + 10}")
    refused = faults.run(cut.directory, "--resume", *end)
    assert refused.returncode in (2, 3) and message in refused.stderr and named in refused.stderr, refused.stderr
    before = output.read_bytes() if output.exists() else None
    if named == REMOVE:
        saved.unlink()
    else:  # restore its own file; an older version would go on with the changed one
        file.write_bytes(own)
    result = faults.run(cut.directory, "--resume", *end)
    assert result.returncode == 0, result.stderr
    if before:
        output.write_bytes(before)
    if harmed:
        file.write_bytes(harmed)
    if named == MOVE:
        file.rename(cut.directory / "moved.h5")
        assert faults.run(cut.directory, "--overwrite", "--set", "time.sweeps=10").returncode == 0
    else:
        assert_begins_anew(cut.directory, refused)


def test_an_output_of_another_shape_is_refused_whatever_its_fingerprint(cut, tmp_path):
    output = cut.directory / "out/run.h5"
    own = output.read_bytes()
    with h5py.File(output) as f:
        fingerprint = f.attrs["fingerprint"]
    faults.write_config(tmp_path / "other", **cut.cadence, compression=1)
    end = ("--set", f"time.sweeps={cut.sweep + 10}")
    assert faults.run(tmp_path / "other", *end).returncode == 0
    with h5py.File(tmp_path / "other/out/run.h5", "r+") as f:
        f.attrs["fingerprint"] = fingerprint
    sums.renew(tmp_path / "other/out/run.h5")
    shutil.copy(tmp_path / "other/out/run.h5", output)
    result = faults.run(cut.directory, "--resume", *end)
    assert result.returncode == 2, result.stderr
    assert "/temperature has another shape, type or compression than this config's" in result.stderr
    assert "resume with the config that began it" in result.stderr
    output.write_bytes(own)
    assert faults.run(cut.directory, "--resume", *end).returncode == 0


def test_two_checkpoints_that_are_not_whole_are_both_named(stopped):
    newer, older = stopped / "out/run.checkpoint.h5", stopped / "out/run.checkpoint.1.h5"
    spoil(newer)
    spoil(older)
    result = faults.run(stopped, "--resume")
    assert result.returncode == 3
    remove = re.search(r"; remove (\S+) and (\S+) to continue from the last snapshot in out/run.h5, or", result.stderr)
    for path in remove.groups():
        (stopped / path).unlink()
    end = f"time.sweeps={snapshot_in(stopped / 'out/run.h5') + 10}"
    assert faults.run(stopped, "--resume", "--set", end).returncode == 0


def test_a_key_that_is_not_as_it_was_may_be_set_back(cut):
    end = ["--resume", "--set", f"time.sweeps={cut.sweep + 10}"]
    result = faults.run(cut.directory, *end, "--set", "material.diffusivity=5e-5")
    key, value = re.search(r"another run: (\S+) is \S+, and was (\S+); resume with", result.stderr).groups()
    result = faults.run(cut.directory, *end, "--set", "material.diffusivity=5e-5", "--set", f"{key}={value}")
    assert result.returncode == 0, result.stderr


# ---- two at once ---------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [["--resume"], []], ids=["resumed", "begun anew"])
def test_a_file_has_one_writer(tmp_path, arguments):
    """A run that is thought dead but is alive: a second one would mix its snapshots with the first's."""
    faults.write_config(tmp_path, (40, 40, 40), sweeps=1000000, every=500)  # longer than the test takes
    first = start(tmp_path)
    wait_for(tmp_path / "out/run.h5", first)
    first.send_signal(signal.SIGSTOP)
    second = faults.run(tmp_path, *arguments)
    assert faults.run(tmp_path, "--output", "elsewhere.h5", "--set", "time.sweeps=10").returncode == 0
    first.send_signal(signal.SIGCONT)
    assert second.returncode == 3, second.stderr
    assert "out/run.h5: another run is writing it" in second.stderr
    interrupt(first)
    with h5py.File(tmp_path / "out/run.h5") as f:
        assert f.attrs["status"] == "stopped" and len(f["time"]) == len(f["temperature"])
    assert faults.run(tmp_path, "--overwrite", "--set", "time.sweeps=10").returncode == 0  # no run holds it any more


def test_a_file_that_has_not_its_name_yet_has_one_writer(tmp_path):
    faults.write_config(tmp_path)
    (tmp_path / "out").mkdir()
    part = tmp_path / "out/run.h5.part"
    part.write_bytes(bytes(96) + b"heatsolve run\n".ljust(96, b"\0"))  # as each part begins
    before = part.read_bytes()
    with open(part, "r+b") as file:
        # struct flock: type, whence, start, length, process; the same lock as the program's
        lock = struct.pack("hhqqi", fcntl.F_RDLCK, os.SEEK_SET, 1 << 62, 1, 0)
        fcntl.fcntl(file, fcntl.F_OFD_SETLK, lock)
        result = faults.run(tmp_path)
        assert result.returncode == 3 and "another run is writing it" in result.stderr
        assert part.read_bytes() == before
    result = faults.run(tmp_path)
    assert result.returncode == 0, result.stderr
    assert not part.exists()


# ---- what it reads from files ----------------------------------------------------------------------

FROM_FILES = """
grid = {{ points = [9, 8]; spacing = 0.01; }};
material = {{ diffusivity = 1e-4; }};
initial = {initial};
source = {source};
boundary = {{ all = {{ type = "reflective"; }}; }};
time = {{ sweeps = 4000000; step = 0.1; }};
output = {{ file = "out/run.h5"; every = 100000; }};
solver = {{ threads = 1; }};
"""
READ = {"initial": "{ value = 20; }", "source": "{ value = 0; }"}


def write_fields(path, change=0.0, of="field"):
    with h5py.File(path, "w") as f:
        values = np.arange(2 * 8 * 9, dtype="f4").reshape(2, 8, 9) / 1e6
        values[1, 3, 4] += change
        f[of] = values


@pytest.fixture(params=["initial", "source"])
def reading(request, tmp_path):
    """A case that reads a dataset, and the group that names it."""
    fields = dict(READ, **{request.param: '{ file = "in.h5"; dataset = "field"; }'})
    (tmp_path / "case.cfg").write_text(FROM_FILES.format(**fields))
    write_fields(tmp_path / "in.h5")
    return tmp_path, request.param


def begun(directory, how):
    """A checkpoint or a finished run's last snapshot, to go on from. Returns an end for the rest."""
    if how == "finished":
        assert faults.run(directory, "--set", "time.sweeps=200").returncode == 0
        return "time.sweeps=300"
    process = start(directory)
    wait_for(directory / "out/run.h5", process)
    interrupt(process, 0.05)
    return f"time.sweeps={sweep_of(directory / 'out/run.checkpoint.h5') + 100}"


@pytest.mark.parametrize("how", ["checkpoint", "finished"])
def test_a_file_that_it_reads_may_not_change(reading, how):
    directory, group = reading
    end = begun(directory, how)
    output = (directory / "out/run.h5").read_bytes()
    write_fields(directory / "in.h5", change=90.0)
    result = faults.run(directory, "--resume", "--set", end)
    assert result.returncode == 2, result.stderr
    assert f"{group}.file = in.h5: the content of this file has changed since the run began with in.h5" in result.stderr
    assert (directory / "out/run.h5").read_bytes() == output
    write_fields(directory / "in.h5")  # the remedy: restore the file
    assert faults.run(directory, "--resume", "--set", end).returncode == 0


@pytest.mark.parametrize("how", ["checkpoint", "finished"])
def test_a_file_that_it_reads_may_move(reading, how):
    """Only the content counts, whatever the names of the file, the dataset and the step."""
    directory, group = reading
    end = begun(directory, how)
    (directory / "in.h5").unlink()
    write_fields(directory / "moved.h5", of="T")
    there = ("--set", f"{group}.file=moved.h5", "--set", f"{group}.dataset=T")
    result = faults.run(directory, "--resume", "--set", end, *there, "--set", f"{group}.step=0")
    assert result.returncode == 2
    assert f"{group}.file = moved.h5: the content of this file has changed since the run began with in.h5" in result.stderr
    result = faults.run(directory, "--resume", "--set", end, *there, "--set", f"{group}.step=1")
    assert result.returncode == 0, result.stderr
    result = faults.run(directory, "--resume", "--set", end, "--set", f"{group}.value=20")
    assert result.returncode == 2
    assert f"belongs to another run: {group}.file is not set, and was moved.h5; resume with" in result.stderr


WEATHER = {0: 5.0, 6: 2.0, 12: 8.5, 18: 9.0, 24: 5.0, 30: 1.5, 36: 7.0, 48: 4.0}  # h, degC


def write_weather(directory, days):
    """The case, and a file of the weather until so many days are over."""
    rows = {h: T for h, T in WEATHER.items() if h <= 24 * days}
    (directory / "air.csv").write_text("".join(f"{3600 * h},{T}\n" for h, T in rows.items()))
    (directory / "case.cfg").write_text(
        "grid = { points = [41]; upper = [0.4]; }; initial = { value = 5.0; };\n"
        "material = { conductivity = 0.8; density = 1800.0; specific_heat = 900.0; };\n"
        'boundary = { x_min = { type = "robin"; h = 8.0; ambient = 20.0; };\n'
        '             x_max = { type = "robin"; h = 25.0; ambient_table = "air.csv"; }; };\n'
        f'time = {{ end = {86400.0 * days}; }}; output = {{ file = "out/run.h5"; interval = 7200.0; }};\n'
    )


def test_a_table_may_grow(tmp_path):
    """Yesterday's run goes on with today's weather to the bits of one run of both days."""
    for name in ("whole", "grown"):
        (tmp_path / name).mkdir()
    write_weather(tmp_path / "whole", 2)
    assert faults.run(tmp_path / "whole").returncode == 0
    for days in (1, 2):
        write_weather(tmp_path / "grown", days)
        result = faults.run(tmp_path / "grown", *["--resume"] * (days > 1))
        assert result.returncode == 0, result.stderr
    assert_same_datasets(tmp_path / "whole/out/run.h5", tmp_path / "grown/out/run.h5")


def test_a_table_may_not_change_where_it_was_used(tmp_path):
    write_weather(tmp_path, 1)
    assert faults.run(tmp_path).returncode == 0
    write_weather(tmp_path, 2)
    rows = (tmp_path / "air.csv").read_text()
    (tmp_path / "air.csv").write_text(rows.replace("43200,8.5", "43200,8.6"))
    result = faults.run(tmp_path, "--resume")
    assert result.returncode == 2
    assert "boundary.x_max.ambient_table = air.csv: the content of this file has changed since the run began with air.csv" in result.stderr
    (tmp_path / "air.csv").write_text(rows)
    assert faults.run(tmp_path, "--resume").returncode == 0
    (tmp_path / "air.csv").write_text("".join(rows.splitlines(True)[:5]))  # nor may it shrink
    assert faults.run(tmp_path, "--resume", "--set", "time.end=1e6").returncode == 2


def test_a_table_may_not_grow_where_the_run_has_been(tmp_path):
    """After its last point a table keeps its number, as this run had it for six hours."""
    write_weather(tmp_path, 1)
    assert faults.run(tmp_path, "--set", "time.end=108000").returncode == 0
    write_weather(tmp_path, 2)
    result = faults.run(tmp_path, "--resume")
    assert result.returncode == 2
    assert "boundary.x_max.ambient_table has new points after t = 86400 s, but the run has reached 108000 s without them; resume with the table as it was, or start over" in result.stderr


def test_the_fingerprint_is_what_python_says_of_the_values(reading):
    directory, group = reading
    assert faults.run(directory, "--set", "time.sweeps=2").returncode == 0
    with h5py.File(directory / "in.h5") as f, h5py.File(directory / "out/run.h5") as g:
        values = f["field"][-1].astype("<f8").tobytes()
        line = f"{group}.file content = 8 x 9, crc32 {zlib.crc32(values):08x}, adler32 {zlib.adler32(values):08x}"
        assert line in g.attrs["fingerprint"].split("\n")


def test_the_fingerprint_of_a_large_field_is_that_of_all_its_parts(tmp_path):
    """Threads sum up parts of 2^17 values: here three parts, the last one shorter."""
    values = np.random.default_rng(5).normal(size=(600, 500))
    np.save(tmp_path / "in.npy", values)
    (tmp_path / "case.cfg").write_text(
        "grid = { points = [500, 600]; spacing = 0.1; }; material = { diffusivity = 1.0; };\n"
        'boundary = { all = { type = "fixed"; }; }; initial = { file = "in.npy"; };\n'
        'time = { sweeps = 1; }; output = { file = "out/run.h5"; };\n'
    )
    assert faults.run(tmp_path).returncode == 0
    with h5py.File(tmp_path / "out/run.h5") as f:
        line = f"initial.file content = 600 x 500, crc32 {zlib.crc32(values):08x}, adler32 {zlib.adler32(values):08x}"
        assert line in f.attrs["fingerprint"].split("\n")
