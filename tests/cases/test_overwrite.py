"""What a run finds under the names that it writes: it replaces nothing that would be lost, and no file that is read.

Every remedy that one of these messages names is carried out here.
"""

import itertools
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import time

import faults
import h5py
import numpy as np
import program
import pytest
from program import snapshots_in, wait_for

CONFIG = """
title = "%(title)s";
grid = { points = [11, 9]; spacing = 0.1; };
material = { diffusivity = 1e-3; };
initial = { %(initial)s };
source = { %(source)s };
boundary = { all = { type = "reflective"; }; };
time = { sweeps = 40; };
output = { file = "%(output)s"; every = 10; %(more)s };
solver = { threads = 1; };
"""


def write_config(directory, name="case.cfg", title="first", output="a.h5", initial="value = 1.0;", source="value = 0.0;", more=""):
    text = CONFIG % dict(title=title, output=output, initial=initial, source=source, more=more)
    (directory / name).write_text(text)
    return text


def heatsolve(directory, *arguments, **more):
    return program.heatsolve(directory, *arguments, timeout=60, **more)


def run(directory, *arguments, config="case.cfg", **more):
    return heatsolve(directory, "run", config, "--quiet", *arguments, **more)


def contents(directory):
    """Everything in the folder: a file's bytes, a link's target, None for a folder or a pipe."""
    found = {}
    for path in sorted(directory.rglob("*")):
        if path.is_symlink():
            found[path] = os.readlink(path)
        elif path.is_file():
            found[path] = path.read_bytes()
        else:
            found[path] = None
    return found


def assert_refused(directory, code, *told, arguments=(), **more):
    """The run is refused with this exit code and these words, and nothing has changed."""
    before = contents(directory)
    result = run(directory, *arguments, **more)
    assert result.returncode == code, result.stderr
    for words in told:
        assert words in result.stderr
    assert contents(directory) == before
    return result.stderr


def title_of(path):
    with h5py.File(path) as f:
        return f.attrs["title"]


# ---- files that heatsolve did not write ----------------------------------------------------------

NAMES = ["a.h5", "a.xdmf", "a.checkpoint.h5", "a.checkpoint.1.h5", "a.h5.part", "a.xdmf.part", "a.checkpoint.h5.part"]


def put_text(path):
    path.write_text("a night's notes on heatsolve\n" * 200)


def put_hdf5(path):
    with h5py.File(path, "w") as f:
        f["data"] = np.arange(100.0)
        f.attrs["program"] = np.arange(1000.0)  # not a text, which the program looks for


def put_short_hdf5(path):
    with h5py.File(path, "w") as f:
        f.attrs.create("program", np.bytes_("heatsolve" * 50))  # of fixed length
        f.attrs["crc32"] = [1, 2]


def put_image(path):
    path.write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(10000))


@pytest.mark.parametrize("arguments", [[], ["--overwrite"], ["--resume"]], ids=["plain", "overwrite", "resume"])
@pytest.mark.parametrize(
    "name, put",
    [(name, put_text) for name in NAMES]
    + list(itertools.product(("a.h5", "a.checkpoint.h5", "a.h5.part"), (put_hdf5, put_short_hdf5, put_image))),
    ids=lambda p: p if isinstance(p, str) else p.__name__[4:],
)
def test_a_file_of_the_users_is_never_replaced(tmp_path, name, put, arguments):
    write_config(tmp_path)
    put(tmp_path / name)
    message = assert_refused(tmp_path, 3, f"{name}: this is a file that heatsolve did not write", "move it away", arguments=arguments)
    assert "--output FILE" in message
    if arguments != ["--resume"]:  # both remedies work
        assert run(tmp_path, *arguments, "--output", "b.h5").returncode == 0
        (tmp_path / name).rename(tmp_path / "notes")
        assert run(tmp_path, *arguments).returncode == 0


def test_a_file_of_the_users_that_comes_while_it_runs_stays(tmp_path):
    """A user's file under the name of a checkpoint: at its end the run removes only its own checkpoints."""
    faults.write_config(tmp_path, points=(40, 40, 40), sweeps=10**8, every=10**7)
    process = start(tmp_path)
    wait_for(tmp_path / "out/run.h5", process)
    put_text(tmp_path / "out/run.checkpoint.h5")
    process.send_signal(signal.SIGINT)
    assert process.wait() == 3
    assert "out/run.checkpoint.h5: this is a file that heatsolve did not write" in process.stderr.read().decode()
    assert (tmp_path / "out/run.checkpoint.h5").read_text().startswith("a night's notes")


@pytest.mark.parametrize("name", ["a.checkpoint.h5", "a.checkpoint.1.h5"])
def test_an_empty_file_under_the_name_of_a_checkpoint_stays(tmp_path, name):
    """Another program may just have opened the file; if a run removed it, what is written next would be lost."""
    write_config(tmp_path)
    with open(tmp_path / name, "w") as notes:
        assert run(tmp_path).returncode == 0
        notes.write("a night's notes\n")
    assert (tmp_path / name).read_text() == "a night's notes\n"
    assert "is a file that heatsolve did not write" in run(tmp_path, "--overwrite").stderr


@pytest.mark.parametrize("name", NAMES[:4])
def test_an_empty_file_is_nobodys(tmp_path, name):
    write_config(tmp_path)
    (tmp_path / name).touch()
    assert run(tmp_path).returncode == 0
    assert title_of(tmp_path / "a.h5") == "first"


def test_files_of_a_version_that_set_no_mark_are_known(tmp_path):
    write_config(tmp_path)
    assert run(tmp_path).returncode == 0
    file, sidecar = tmp_path / "a.h5", tmp_path / "a.xdmf"
    content = bytearray(file.read_bytes())
    assert content[96:192].rstrip(b"\0") == b"heatsolve run\n"
    content[96:192] = bytes(96)
    file.write_bytes(content)
    sidecar.write_text(re.sub(" <!--.*-->\n", "", sidecar.read_text()))
    assert "heatsolve" not in sidecar.read_text()
    assert_refused(tmp_path, 3, "a.h5: this is a finished run")
    assert run(tmp_path, "--resume", "--set", "time.sweeps=50").returncode == 0
    assert run(tmp_path, "--overwrite").returncode == 0


# ---- earlier runs --------------------------------------------------------------------------------


@pytest.mark.parametrize("method, name", [("euler", "sweep"), ("rkl2", "step"), ("implicit", "step")])
def test_an_earlier_run_is_told_by_its_steps(tmp_path, method, name):
    write_config(tmp_path)
    more = ["--set", f'time={{sweeps=40; step=1e-3; method="{method}";}}']
    assert run(tmp_path, *more).returncode == 0
    assert f"5 snapshots, at {name} 40" in run(tmp_path, *more).stderr


def test_a_finished_run_is_replaced_with_overwrite_only(tmp_path):
    write_config(tmp_path)
    assert run(tmp_path).returncode == 0
    write_config(tmp_path, title="second")
    message = assert_refused(
        tmp_path, 3, 'a.h5: this is a finished run ("first"): 5 snapshots, at sweep 40', "--resume", "--overwrite", "--output FILE"
    )
    assert "--resume with a later end extends it" in message
    result = heatsolve(tmp_path, "check", "case.cfg")
    assert result.returncode == 0 and f"refused      {message.removeprefix('heatsolve: ')}" in result.stdout
    assert run(tmp_path, "--output", "b.h5").returncode == 0 and title_of(tmp_path / "a.h5") == "first"
    assert run(tmp_path, "--resume", "--set", "time.sweeps=50").returncode == 0
    assert_refused(tmp_path, 3, "6 snapshots, at sweep 50")
    assert run(tmp_path, "--overwrite").returncode == 0 and title_of(tmp_path / "a.h5") == "second"
    write_config(tmp_path, title="third", more="overwrite = true;")
    assert run(tmp_path).returncode == 0 and title_of(tmp_path / "a.h5") == "third"
    assert heatsolve(tmp_path, "check", "case.cfg").stdout.count("refused") == 0
    assert_refused(tmp_path, 3, "a finished run", arguments=["--set", "output.overwrite=false"])


def test_one_or_the_other(tmp_path):
    write_config(tmp_path, more="overwrite = true;")
    assert run(tmp_path).returncode == 0
    assert_refused(tmp_path, 2, "give one of them", arguments=["--resume", "--overwrite"])
    # the key is for new runs
    assert run(tmp_path, "--resume", "--set", "time.sweeps=50").returncode == 0
    with h5py.File(tmp_path / "a.h5") as f:
        assert list(f["sweep"]) == [0, 10, 20, 30, 40, 50]


def start(directory, *arguments, config="case.cfg", **more):
    return program.start(directory, "run", config, "--quiet", *arguments, **more)


@pytest.fixture
def interrupted(tmp_path):
    faults.write_config(tmp_path, points=(40, 40, 40), sweeps=10**8, every=10**7)
    process = start(tmp_path)
    wait_for(tmp_path / "out/run.h5", process)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    assert process.wait() == 130
    return tmp_path


def test_a_forgotten_resume_costs_nothing(interrupted):
    with h5py.File(interrupted / "out/run.checkpoint.h5") as f:
        sweep = f.attrs["sweep"]
    told = f'out/run.h5: this is an interrupted run ("crash"): 2 snapshots, at sweep {sweep},'
    assert_refused(interrupted, 3, told, "--resume continues it", "--overwrite replaces it")
    end = ["--set", f"time.sweeps={sweep + 10}"]
    copy = shutil.copytree(interrupted, interrupted / "copy")
    assert run(interrupted, "--resume", *end).returncode == 0
    assert run(copy, "--overwrite", "--set", "time.sweeps=10").returncode == 0
    for directory in (interrupted, copy):
        assert sorted(p.name for p in (directory / "out").iterdir()) == ["run.h5", "run.xdmf"]


def test_a_checkpoint_without_its_output_is_not_lost(interrupted):
    (interrupted / "out/run.h5").unlink()
    told = "out/run.checkpoint.h5: this is the state of an interrupted run at sweep "
    assert_refused(interrupted, 3, told, "whose output is gone", "--overwrite removes it")
    assert run(interrupted, "--output", "b.h5", "--set", "time.sweeps=10").returncode == 0
    assert run(interrupted, "--overwrite", "--set", "time.sweeps=10").returncode == 0


def test_an_interrupted_run_that_overwrote_goes_on_as_its_message_says(tmp_path):
    faults.write_config(tmp_path, points=(40, 40, 40), sweeps=10**8, every=10**7)
    assert run(tmp_path, "--set", "time.sweeps=5").returncode == 0
    process = start(tmp_path, "--overwrite")
    while process.poll() is None and snapshots_in(tmp_path / "out/run.h5") != 1:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.wait() == 130
    assert "with --resume instead of --overwrite continues from there" in process.stderr.read().decode()
    with h5py.File(tmp_path / "out/run.checkpoint.h5") as f:
        end = f"time.sweeps={f.attrs['sweep'] + 1}"
    assert run(tmp_path, "--resume", "--set", end).returncode == 0


def test_a_killed_run_is_an_earlier_run(tmp_path):
    faults.write_config(tmp_path, points=(40, 40, 40), sweeps=10**8, every=10**7)
    process = start(tmp_path)
    wait_for(tmp_path / "out/run.h5", process)
    process.kill()
    process.wait()
    message = assert_refused(tmp_path, 3, 'out/run.h5: this is a run that was cut off ("crash"): 1 snapshot, at sweep ')
    assert ", the last at t = 0 s; " in message  # sweeps go on while the first snapshot is written
    assert run(tmp_path, "--overwrite", "--set", "time.sweeps=10").returncode == 0


def test_a_run_that_diverged_is_an_earlier_run(tmp_path):
    write_config(tmp_path, source='expression = "t > 20 ? 1e300*exp(t) : 0"')
    arguments = ["--set", "time.step=1.0", "--set", "source.expression=t > 20 ? 1/(t - 30) : 0"]
    assert run(tmp_path, *arguments).returncode == 1
    message = assert_refused(tmp_path, 3, 'a.h5: this is a run that diverged ("first"): ', "; --overwrite replaces it")
    assert "--resume" not in message
    assert run(tmp_path, "--overwrite", "--set", "source.value=0").returncode == 0


def test_a_run_that_cannot_be_read_is_not_lost_either(tmp_path):
    write_config(tmp_path)
    assert run(tmp_path).returncode == 0
    (tmp_path / "a.h5").write_bytes((tmp_path / "a.h5").read_bytes()[:3000])
    assert_refused(tmp_path, 3, "a.h5: this is the output of a run, which cannot be read; --overwrite replaces it")
    assert run(tmp_path, "--overwrite").returncode == 0


def test_an_output_that_lacks_snapshots_is_put_back_or_begun_anew(tmp_path):
    """The output is put back to an earlier state of the same run."""
    faults.write_config(tmp_path, points=(40, 40, 40), sweeps=10**6, every=400)
    file = tmp_path / "out/run.h5"
    process = start(tmp_path)
    wait_for(file, process)
    early = file.read_bytes()
    while process.poll() is None and snapshots_in(file) < 4:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.wait() == 130
    whole = file.read_bytes()
    with h5py.File(file) as f:
        end = f"time.sweeps={f['sweep'][-1] + 5}"
    file.write_bytes(early)
    message = assert_refused(tmp_path, 2, "put back the file that belongs to", arguments=["--resume", "--set", end])
    assert "or start over with --overwrite instead of --resume" in message
    copy = shutil.copytree(tmp_path, tmp_path / "copy")
    assert run(copy, "--overwrite", "--set", "time.sweeps=5").returncode == 0
    file.write_bytes(whole)
    result = run(tmp_path, "--resume", "--set", end)
    assert result.returncode == 0, result.stderr


def test_what_a_kill_leaves_of_a_part_is_taken_over(library, tmp_path):
    """A run is killed at each of its first calls: the leftover does not hinder the next run."""
    faults.write_config(tmp_path)
    log = tmp_path / "log"
    assert faults.run(tmp_path, library=library, log=log).returncode == 0
    first = [line.split()[1] for line in log.read_text().splitlines()].index("rename") + 1
    left = set()
    for n in range(1, first + 1):
        shutil.rmtree(tmp_path / "out")
        assert faults.run(tmp_path, library=library, kill=n).returncode == -signal.SIGKILL
        (part,) = (tmp_path / "out").iterdir()
        left.add(part.stat().st_size > 192)
        assert part.name == "run.h5.part"
        result = faults.run(tmp_path)
        assert result.returncode == 0, result.stderr
        assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["run.h5", "run.xdmf"]
    assert left == {False, True}  # both kinds occurred: an empty one, and one with contents


@pytest.mark.parametrize("name", ["a.xdmf", "a.h5", "p.png", "p.svg"])
@pytest.mark.parametrize("cut", [0, 2048, None], ids=["empty", "half", "whole"])
def test_a_part_of_its_own_is_no_obstacle(tmp_path, name, cut):
    picture = name if name.startswith("p.") else "p.png"
    write_config(tmp_path)
    assert run(tmp_path).returncode == 0
    assert heatsolve(tmp_path, "render", "a.h5", "-o", picture).returncode == 0
    (tmp_path / f"{name}.part").write_bytes((tmp_path / name).read_bytes()[:cut])
    assert run(tmp_path, "--overwrite").returncode == 0
    assert heatsolve(tmp_path, "render", "a.h5", "-o", picture).returncode == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.h5", "a.xdmf", "case.cfg", picture]


def test_shipped_configs_run_twice(tmp_path):
    root = pathlib.Path(__file__).resolve().parents[2]
    for config in sorted((root / "configs").rglob("*.cfg")):
        assert "overwrite = true;" in config.read_text(), config
    for _ in range(2):
        assert run(tmp_path, config=root / "configs/boundary/robin.cfg").returncode == 0


# ---- files that are read -------------------------------------------------------------------------


@pytest.mark.parametrize("name", [n for n in NAMES if n != "a.checkpoint.1.h5"])
@pytest.mark.parametrize("command", ["run", "check"])
def test_the_config_is_not_written(tmp_path, name, command):
    write_config(tmp_path, name)
    before = contents(tmp_path)
    for more in ([], ["--set", "output.overwrite=true"]):
        result = heatsolve(tmp_path, command, name, *more)
        assert result.returncode == 2, result.stderr
        assert 'output.file = "a.h5"' in result.stderr and "the config itself; give another name" in result.stderr
        assert contents(tmp_path) == before
    assert heatsolve(tmp_path, command, name, "--set", "output.file=b.h5").returncode == 0


@pytest.mark.parametrize("output", ["inner.cfg", "./sub/../inner.cfg", "linked.h5"])
def test_an_included_file_is_not_written(tmp_path, output):
    text = write_config(tmp_path)
    (tmp_path / "sub").mkdir()
    (tmp_path / "linked.h5").symlink_to("inner.cfg")
    (tmp_path / "inner.cfg").write_text("# more\n")
    (tmp_path / "case.cfg").write_text(text + '@include "inner.cfg"\n')
    assert_refused(tmp_path, 2, "is the file that @include reads; give another name", arguments=["--output", output])
    assert run(tmp_path, "--output", "b.h5").returncode == 0


@pytest.mark.parametrize("key", ["initial", "source"])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("arguments", [[], ["--overwrite"], ["--resume"]], ids=["plain", "overwrite", "resume"])
def test_a_field_that_is_read_is_not_written(tmp_path, key, name, arguments):
    """By its own name, through a symbolic link, and through a hard link."""
    with h5py.File(tmp_path / name, "w") as f:
        f["T"] = np.ones((9, 11))
    (tmp_path / "other.h5").hardlink_to(tmp_path / name)
    (tmp_path / "link.h5").symlink_to(name)
    for alias in (name, "other.h5", "link.h5"):
        write_config(tmp_path, **{key: f'file = "{alias}"; dataset = "T";'})
        told = assert_refused(tmp_path, 2, f"the file that {key}.file reads; give another name", arguments=arguments)
        assert 'case.cfg:9: output.file = "a.h5"' in told
    assert run(tmp_path, "--output", "b.h5").returncode == 0


def test_a_link_to_nothing_is_written_where_it_leads(tmp_path):
    write_config(tmp_path)
    (tmp_path / "disk").mkdir()
    (tmp_path / "a.h5").symlink_to("b.h5")
    (tmp_path / "b.h5").symlink_to("disk/c.h5")
    assert run(tmp_path).returncode == 0
    assert (tmp_path / "a.h5").is_symlink() and (tmp_path / "b.h5").is_symlink()
    with h5py.File(tmp_path / "disk" / "c.h5") as f:
        assert f.attrs["finished"] == 1


def test_a_checkpoint_of_its_own_is_not_what_a_run_begins_with(interrupted):
    text = (interrupted / "case.cfg").read_text()
    fields = 'initial = { file = "out/run.checkpoint.h5"; };'
    (interrupted / "case.cfg").write_text(re.sub("initial = .*", fields, text))
    for arguments in ([], ["--resume"], ["--overwrite"]):
        told = "the run writes or removes out/run.checkpoint.h5 too, which is the file that initial.file reads"
        assert_refused(interrupted, 2, told, arguments=arguments)
    assert run(interrupted, "--output", "b.h5", "--set", "time.sweeps=3").returncode == 0


# ---- names beside the output ---------------------------------------------------------------------

ENDINGS = [".h5", ".hdf5", ".hdf", ".vtkhdf", "", ".nc", ".H5", ".vtkhdf.h5", ".checkpoint", ".h5.h5"]


@pytest.mark.parametrize("first, second", itertools.permutations(ENDINGS, 2))
def test_two_runs_in_a_folder_share_nothing(tmp_path, first, second):
    """The second run leaves the first one's files unchanged, or it is refused."""
    write_config(tmp_path, "one.cfg", title="one", output=f"s{first}")
    write_config(tmp_path, "two.cfg", title="two", output=f"s{second}")
    assert run(tmp_path, config="one.cfg").returncode == 0
    before = contents(tmp_path)
    result = run(tmp_path, "--overwrite", config="two.cfg")
    after = contents(tmp_path)
    assert {path: after[path] for path in before} == before
    # the ending ".h5" is replaced, so only a name and the same name with ".h5" can collide
    shorter, longer = sorted((first, second), key=len)
    if longer == shorter + ".h5" and not shorter.endswith(".h5"):
        assert result.returncode == 3 and "is the output of another run, and both would write s" in result.stderr
        assert after == before
        assert run(tmp_path, "--output", "t.h5", config="two.cfg").returncode == 0  # the remedy
        return
    assert result.returncode == 0, result.stderr
    assert title_of(tmp_path / f"s{second}") == "two"
    sidecars = sorted(tmp_path.glob("*.xdmf"))
    assert {re.search(r">\./(\S+):/temperature<", p.read_text())[1] for p in sidecars} == {f"s{first}", f"s{second}"}


def test_runs_to_two_endings_keep_a_checkpoint_each(tmp_path):
    for name in ("run.h5", "run.vtkhdf"):
        faults.write_config(tmp_path, points=(40, 40, 40), sweeps=10**8, every=10**7)
        process = start(tmp_path, "--output", name)
        wait_for(tmp_path / name, process)
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
    assert sorted(p.name for p in tmp_path.glob("*.checkpoint.h5")) == ["run.checkpoint.h5", "run.vtkhdf.checkpoint.h5"]
    for name in ("run.h5", "run.vtkhdf"):
        with h5py.File(tmp_path / name) as f:
            end = f"time.sweeps={f['sweep'][-1] + 1}"
        assert run(tmp_path, "--resume", "--output", name, "--set", end).returncode == 0


# ---- while it runs -------------------------------------------------------------------------------


def snatch(tmp_path, what):
    file = tmp_path / "out/run.h5"
    if what == "removed":
        file.unlink()
    elif what == "moved or renamed":
        file.rename(tmp_path / "elsewhere.h5")
    elif what == "changed by another program":
        file.write_bytes(b"")
    elif what == "moved or renamed, with its folder":
        (tmp_path / "out").rename(tmp_path / "away")
    else:
        put_text(tmp_path / "new")
        (tmp_path / "new").rename(file)


@pytest.mark.parametrize("what", ["removed", "moved or renamed", "moved or renamed, with its folder", "replaced", "changed by another program"])
@pytest.mark.parametrize("when", ["snapshot", "end"])
def test_an_output_that_is_taken_away_ends_the_run(tmp_path, what, when):
    cadence = dict(every=50, sweeps=10**5) if when == "snapshot" else dict(every=10**8, sweeps=30000)
    faults.write_config(tmp_path, points=(40, 40, 40), **cadence, history_every=10**8)
    # checkpoints are left behind, too
    process = start(tmp_path, *([] if "moved" in what else ["--set", "checkpoint.every_minutes=1e-3"]))
    wait_for(tmp_path / "out/run.h5", process)
    snatch(tmp_path, what)
    assert process.wait(timeout=600) == 3  # 30,000 sweeps: a minute with coverage on a busy machine
    message = process.stderr.read().decode()
    assert f"out/run.h5: was {what.split(',')[0]} while this run wrote it" in message
    assert "stays readable" not in message
    again = ("--set", "time.sweeps=5", "--overwrite")
    if what == "removed":  # nothing was created again under the name
        assert not (tmp_path / "out/run.h5").exists() and "lost; start over with --overwrite" in message
        assert run(tmp_path, *again).returncode == 0
    elif what in ("replaced", "changed by another program"):
        assert re.search("move (it away|away what is there now), and start over with --overwrite", message)
        assert what != "replaced" or (tmp_path / "out/run.h5").read_text().startswith("a night's notes")
        (tmp_path / "out/run.h5").rename(tmp_path / "changed.h5")
        assert run(tmp_path, *again).returncode == 0
    else:
        assert "move it back and continue with --resume" in message
        if (tmp_path / "away").exists():
            (tmp_path / "away").rename(tmp_path / "out")
        else:
            (tmp_path / "elsewhere.h5").rename(tmp_path / "out/run.h5")
        with h5py.File(tmp_path / "out/run.h5") as f:
            end = f"time.sweeps={f['sweep'][-1] + 5}"
        result = run(tmp_path, "--resume", "--set", end)
        assert result.returncode == 0, result.stderr


def test_a_folder_that_is_moved_before_the_xdmf_file_is_there_is_told(tmp_path, library):
    faults.write_config(tmp_path, sweeps=10, every=10)
    process = start_and_stop(tmp_path, library, "create", match="run.xdmf")
    snatch(tmp_path, "moved or renamed, with its folder")
    code, message = go_on(process)
    assert code == 3 and "out/run.h5: was moved or renamed while this run wrote it" in message and "xdmf" not in message


# ---- two at once ---------------------------------------------------------------------------------


def state_of(process):
    return pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()[0]


def start_and_stop(directory, library, where, *arguments, match="run.h5"):
    """A run that has stopped itself (SIGSTOP) at this point."""
    environment = dict(os.environ, LD_PRELOAD=str(library), FAULT_MATCH=match, FAULT_STOP=where)
    process = start(directory, *arguments, env=environment)
    while state_of(process) != "T":
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.002)
    return process


def go_on(process):
    process.send_signal(signal.SIGCONT)
    code = process.wait(timeout=60)
    return code, process.stderr.read().decode()


@pytest.mark.parametrize("arguments", [(), ("--overwrite",)], ids=["plain", "overwrite"])
@pytest.mark.parametrize("where", ["create", "created", "rename"])
@pytest.mark.parametrize("second", ["done", "running"])
def test_of_two_new_runs_one_has_the_file(library, tmp_path, where, second, arguments):
    """The first stops between checking the file and taking it; before it continues, the second has ended or is
    running."""
    faults.write_config(tmp_path, points=(30, 30, 30), sweeps=10**8 if second == "running" else 40, every=10**7)
    file = tmp_path / "out/run.h5"
    first = start_and_stop(tmp_path, library, where, "--set", 'title="one"', "--set", "time.sweeps=20", *arguments)
    other = start(tmp_path, "--set", 'title="two"', *arguments)
    other_has_it = where == "create" or (where == "created" and other_got_it(other, file))
    if second == "running" and other_has_it:
        wait_for(file, other)
    elif other_has_it:
        assert other.wait(timeout=60) == 0
    else:
        assert other.wait(timeout=60) == 3 and "another run is writing it" in other.stderr.read().decode()
    code, message = go_on(first)
    if not other_has_it:
        assert code == 0, message
        assert title_of(file) == "one"
        return
    if second == "running":
        assert code == 3 and "another run is writing it" in message
        other.send_signal(signal.SIGINT)
        assert other.wait(timeout=60) == 130
    elif where == "create" and arguments:  # the other's output is now that of an earlier run, and may be replaced
        assert code == 0 and title_of(file) == "one"
        return
    else:
        assert code == 3, message
        assert "this is a finished run" in message or "another run is writing it" in message
    assert title_of(file) == "two"


def other_got_it(other, file):
    """True if the other run got the file: a part without a lock yet looks abandoned."""
    wait_for(file, other)
    return file.exists()


def test_of_two_new_runs_that_would_share_an_xdmf_one_goes_on(library, tmp_path):
    faults.write_config(tmp_path)
    first = start_and_stop(tmp_path, library, "create")
    assert run(tmp_path, "--output", "out/run").returncode == 0
    code, message = go_on(first)
    assert code == 3 and "out/run.h5: out/run is the output of another run, and both would write out/run.xdmf" in message
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["run", "run.xdmf"]


def test_a_run_that_goes_on_and_a_new_one(library, tmp_path):
    faults.write_config(tmp_path)
    assert run(tmp_path).returncode == 0
    first = start_and_stop(tmp_path, library, "rename", "--overwrite", "--set", 'title="one"')
    other = run(tmp_path, "--resume", "--set", "time.sweeps=50")
    assert other.returncode == 3 and "another run is writing it" in other.stderr
    code, message = go_on(first)
    assert code == 0, message
    assert run(tmp_path, "--resume", "--set", "time.sweeps=50").returncode == 0


# ---- links and pipes -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", [n for n in NAMES if n.endswith(".part")])
@pytest.mark.parametrize("what", ["a symbolic link", "a pipe or a device", "a directory"])
@pytest.mark.parametrize("arguments", [[], ["--overwrite"]], ids=["plain", "overwrite"])
def test_a_part_is_a_new_file(tmp_path, name, what, arguments):
    write_config(tmp_path)
    put_text(tmp_path / "victim")
    if what == "a symbolic link":
        (tmp_path / name).symlink_to("victim")
    elif what == "a directory":
        (tmp_path / name).mkdir()
    else:
        os.mkfifo(tmp_path / name)
    assert_refused(tmp_path, 3, f"{name}: this is {what}, which is never replaced; move it away", arguments=arguments)
    (tmp_path / name).rename(tmp_path / "moved")
    assert run(tmp_path, *arguments).returncode == 0


@pytest.mark.parametrize("name", NAMES[1:4])
def test_a_pipe_beside_the_output_stays(tmp_path, name):
    write_config(tmp_path)
    os.mkfifo(tmp_path / name)
    assert_refused(tmp_path, 3, f"{name}: this is a pipe or a device")


def test_a_hard_link_that_a_part_was_is_not_written_through(tmp_path):
    """The part of a killed run, which has since been linked under another name."""
    write_config(tmp_path)
    assert run(tmp_path).returncode == 0
    (tmp_path / "kept").hardlink_to(tmp_path / "a.h5")
    (tmp_path / "a.h5").rename(tmp_path / "a.h5.part")
    before = (tmp_path / "kept").read_bytes()
    assert run(tmp_path, "--set", 'title="second"').returncode == 0
    assert (tmp_path / "kept").read_bytes() == before and title_of(tmp_path / "a.h5") == "second"


@pytest.mark.parametrize("links", [["a.h5"], ["a.h5", "b.h5"], ["a.h5", "b.h5", "c.h5"]], ids=len)
@pytest.mark.parametrize("arguments", [[], ["--overwrite"]], ids=["plain", "overwrite"])
def test_a_link_that_leads_back_to_itself_stays(tmp_path, links, arguments):
    write_config(tmp_path)
    for name, to in zip(links, links[1:] + links[:1]):
        (tmp_path / name).symlink_to(to)
    assert_refused(tmp_path, 3, "this is a symbolic link that leads back to itself", arguments=arguments)


def test_an_output_that_is_a_link_is_written_where_it_leads(tmp_path):
    (tmp_path / "disk").mkdir()
    write_config(tmp_path)
    (tmp_path / "a.h5").symlink_to("disk/big.h5")
    put_text(tmp_path / "disk/big.h5")
    assert_refused(tmp_path, 3, "big.h5: this is a file that heatsolve did not write")
    (tmp_path / "disk/big.h5").write_bytes(b"")
    assert run(tmp_path).returncode == 0
    assert_refused(tmp_path, 3, "big.h5: this is a finished run")
    assert run(tmp_path, "--overwrite", "--set", 'title="second"').returncode == 0
    assert (tmp_path / "a.h5").is_symlink() and title_of(tmp_path / "disk/big.h5") == "second"
    assert run(tmp_path, "--resume", "--set", "time.sweeps=50").returncode == 0
    assert (tmp_path / "a.h5").is_symlink() and snapshots_in(tmp_path / "disk/big.h5") == 6


def test_what_output_names_is_told_by_its_name(tmp_path):
    write_config(tmp_path)
    assert_refused(tmp_path, 2, '--output: output.file = "": is empty, a folder', arguments=["--output", ""])
    assert_refused(tmp_path, 2, '--set: output.file = "": is empty, a folder', arguments=["--set", 'output.file=""'])
    message = assert_refused(tmp_path, 2, '--output: output.file = "case.cfg": is the config itself', "--set: time.ends: unknown key",
                             arguments=["--set", "time.ends=1", "--output", "case.cfg"])
    assert message.count("--output") == 1
    (tmp_path / "a.xdmf").write_text((tmp_path / "case.cfg").read_text())
    assert_refused(tmp_path, 2, '--output: output.file = "a.h5": the run writes or removes a.xdmf too', config="a.xdmf", arguments=["--output", "a.h5"])


def test_a_name_that_parts_have_is_not_an_outputs(tmp_path):
    write_config(tmp_path)
    assert_refused(tmp_path, 2, '--output: output.file = "b.h5.part": ends in .part', arguments=["--output", "b.h5.part"])
    for name in ("b.npy", "b.png", "b.VTK", "b.c/b.csv"):
        ending = name[name.rindex("."):]
        assert_refused(tmp_path, 2, f'--output: output.file = "{name}": ends in {ending}, but a run writes an HDF5 file; end the name in .h5', arguments=["--output", name])
    assert run(tmp_path, "--output", "b.h5").returncode == 0


@pytest.mark.parametrize("what", ["config", "@include", "initial.file", "source.file", "render", "tuning"])
def test_a_pipe_that_is_read_holds_nothing_up(tmp_path, what):
    os.mkfifo(tmp_path / "pipe")
    text = write_config(tmp_path, **{what[:-5]: 'file = "pipe"; dataset = "T";'} if what.endswith(".file") else {})
    if what == "config":
        result = run(tmp_path, config="pipe")
    elif what == "@include":
        (tmp_path / "case.cfg").write_text(text + '@include "pipe"\n')
        result = run(tmp_path)
    elif what == "render":
        result = heatsolve(tmp_path, "render", "pipe", "-o", "p.png")
    elif what == "tuning":
        environment = dict(os.environ, XDG_CACHE_HOME=str(tmp_path / "cache"))
        assert heatsolve(tmp_path, "tune", "case.cfg", "--quiet", env=environment).returncode == 0
        (kept,) = (tmp_path / "cache/heatsolve").iterdir()
        kept.unlink()
        os.mkfifo(kept)
        result = heatsolve(tmp_path, "check", "case.cfg", env=environment)
        assert result.returncode == 0 and "it is a pipe, and a file is needed; heatsolve tune --retune" in result.stdout
        assert heatsolve(tmp_path, "tune", "case.cfg", "--retune", "--quiet", env=environment).returncode == 0
        assert kept.is_file()
        return
    else:
        result = run(tmp_path)
    assert result.returncode == 3, result.stderr
    assert re.search("(cannot (open|read) pipe|pipe: cannot (open|read)): it is a pipe, and a file is needed", result.stderr), result.stderr


def test_what_a_shell_hands_over_is_a_config(tmp_path):
    write_config(tmp_path)
    for line in ("run /dev/stdin --quiet <case.cfg", "run <(sleep 0.2; cat case.cfg) --quiet --overwrite"):
        result = subprocess.run(["bash", "-c", f'"$0" {line}', program.HEATSOLVE], cwd=tmp_path, capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
    result = subprocess.run(["bash", "-c", 'cat case.cfg | "$0" run /dev/stdin --quiet --overwrite', program.HEATSOLVE], cwd=tmp_path)
    assert result.returncode == 0


# ---- pictures ------------------------------------------------------------------------------------


def test_a_picture_of_its_own_is_drawn_again_and_no_other(tmp_path):
    write_config(tmp_path)
    assert run(tmp_path).returncode == 0
    draw = ["render", "a.h5", "-o", "p.png"]
    for _ in range(2):
        assert heatsolve(tmp_path, *draw).returncode == 0
    for put in (put_text, put_image):
        put(tmp_path / "p.png")
        before = contents(tmp_path)
        result = heatsolve(tmp_path, *draw)
        assert result.returncode == 3, result.stderr
        assert "p.png: this is a file that heatsolve did not write" in result.stderr
        assert "move it away, or give the picture another name" in result.stderr
        assert contents(tmp_path) == before
    (tmp_path / "a.png").symlink_to("a.h5")
    result = heatsolve(tmp_path, "render", "a.h5", "-o", "a.png")
    assert result.returncode == 3 and "a.png: this is the output of a run, which is never replaced" in result.stderr
    assert heatsolve(tmp_path, "render", "a.h5", "-o", "q.png").returncode == 0
    (tmp_path / "p.png").rename(tmp_path / "old.png")
    assert heatsolve(tmp_path, *draw).returncode == 0


def test_a_picture_that_the_disk_has_no_room_for(tmp_path):
    write_config(tmp_path)
    assert run(tmp_path).returncode == 0
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", disk], capture_output=True).returncode != 0:
        pytest.skip("needs the right to mount a small file system")
    try:
        result = heatsolve(tmp_path, "render", "a.h5", "-o", "disk/p.png")
        assert result.returncode == 3, result.stderr
        assert "disk/p.png: cannot write: No space left on device; free space there, or give the picture another name" in result.stderr
        assert list(disk.iterdir()) == []
    finally:
        subprocess.run(["umount", disk], check=True)
    assert heatsolve(tmp_path, "render", "a.h5", "-o", "disk/p.png").returncode == 0


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_what_a_kill_leaves_of_a_picture_is_taken_over(tmp_path, ending):
    write_config(tmp_path)
    assert run(tmp_path).returncode == 0
    draw = ["render", "a.h5", "-o", f"p.{ending}"]
    for size in (4096, 12288):
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        assert heatsolve(tmp_path, *draw, preexec_fn=limit).returncode == -signal.SIGXFSZ
        assert (tmp_path / f"p.{ending}.part").stat().st_size == size
        result = heatsolve(tmp_path, *draw)
        assert result.returncode == 0, result.stderr
        assert not (tmp_path / f"p.{ending}.part").exists()


@pytest.mark.parametrize("what", ["link", "pipe"])
def test_a_pictures_part_is_a_new_file(tmp_path, what):
    write_config(tmp_path)
    assert run(tmp_path).returncode == 0
    put_text(tmp_path / "victim")
    (os.mkfifo if what == "pipe" else lambda p: p.symlink_to("victim"))(tmp_path / "p.png.part")
    before = contents(tmp_path)
    result = heatsolve(tmp_path, "render", "a.h5", "-o", "p.png")
    assert result.returncode == 3 and "p.png.part: this is a " in result.stderr
    assert contents(tmp_path) == before


def test_a_roofline_that_would_replace_a_users_picture_is_refused_before_the_work(tmp_path):
    put_image(tmp_path / "p.png")
    began = time.monotonic()
    result = heatsolve(tmp_path, "bench", "--points", "200", "--roofline", "p.png")
    assert result.returncode == 3 and "p.png: this is a file that heatsolve did not write" in result.stderr
    assert result.stdout == "" and time.monotonic() - began < 5
