"""What `init` prints runs unchanged; cases with a known solution pass their own check."""

import os
import subprocess

import pytest

HEATSOLVE = os.environ["HEATSOLVE"]


def heatsolve(*arguments, cwd):
    return subprocess.run([HEATSOLVE, *arguments], cwd=cwd, capture_output=True, text=True, timeout=300)


def listed(tmp_path):
    lines = heatsolve("init", "--list", cwd=tmp_path).stdout.splitlines()
    assert all(len(line.split(maxsplit=1)) == 2 for line in lines)  # a name and a description
    return [line.split()[0] for line in lines]


def test_the_list_names_several(tmp_path):
    names = listed(tmp_path)
    assert names == ["block3d", "plate2d", "rod1d", "raw-stencil", "steady"]
    assert heatsolve("init", cwd=tmp_path).stdout == heatsolve("init", names[0], cwd=tmp_path).stdout


# cases without a known solution need only a few sweeps to show that they run
@pytest.mark.parametrize(
    "name, settings",
    [("block3d", ["time.end=0.01"]), ("plate2d", ["time.sweeps=20"]), ("rod1d", []), ("raw-stencil", ["time.sweeps=5"]), ("steady", [])],
)
def test_each_runs(tmp_path, name, settings):
    text = heatsolve("init", name, cwd=tmp_path).stdout
    assert text.startswith("//")  # a description
    (tmp_path / "case.cfg").write_text(text)
    arguments = [a for setting in settings for a in ("--set", setting)]
    result = heatsolve("run", "case.cfg", "--quiet", *arguments, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert (tmp_path / f"{name}.h5").exists()


def test_an_unknown_name_is_refused(tmp_path):
    result = heatsolve("init", "block", cwd=tmp_path)
    assert result.returncode == 2
    assert result.stderr == "heatsolve: init: block: no such config; heatsolve init --list names them\n"
    assert result.stdout == ""
