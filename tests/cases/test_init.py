"""What `init` prints runs unchanged; cases with a known solution pass their own check."""


import pytest
from program import heatsolve, must


def init(directory, *arguments):
    return heatsolve(directory, "init", *arguments, timeout=300)


def listed(tmp_path):
    lines = init(tmp_path, "--list").stdout.splitlines()
    assert all(len(line.split(maxsplit=1)) == 2 for line in lines)  # a name and a description
    return [line.split()[0] for line in lines]


def test_the_list_names_several(tmp_path):
    names = listed(tmp_path)
    assert names == ["block3d", "plate2d", "rod1d", "raw-stencil", "steady"]
    assert init(tmp_path).stdout == init(tmp_path, names[0]).stdout


# cases without a known solution need only a few sweeps to show that they run
@pytest.mark.parametrize(
    "name, settings",
    [("block3d", ["time.end=0.01"]), ("plate2d", ["time.sweeps=20"]), ("rod1d", []), ("raw-stencil", ["time.sweeps=5"]), ("steady", [])],
)
def test_each_runs(tmp_path, name, settings):
    text = init(tmp_path, name).stdout
    assert text.startswith("//")  # a description
    (tmp_path / "case.cfg").write_text(text)
    arguments = [a for setting in settings for a in ("--set", setting)]
    must(tmp_path, "run", "case.cfg", "--quiet", *arguments, timeout=300)
    assert (tmp_path / f"{name}.h5").exists()


def test_an_unknown_name_is_refused(tmp_path):
    result = init(tmp_path, "block")
    assert result.returncode == 2
    assert result.stderr == "heatsolve: init: block: no such config; heatsolve init --list names them\n"
    assert result.stdout == ""
