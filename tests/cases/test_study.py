"""What a study of many runs needs, in --json and in the file, as numbers and names for a program: the settings, the
probes' last values and the walls. Also the study in the guide, run unchanged."""

import json
import os
import pathlib
import re
import subprocess
import sys

import h5py
import numpy as np
import pytest
from program import HEATSOLVE, must

ROOT = pathlib.Path(__file__).resolve().parents[2]
CASE = """
grid = { points = [17, 9]; upper = [1.6, 0.8]; };
material = { conductivity = 2.0; density = 1000.0; specific_heat = 500.0; };
initial = { expression = "300 + x"; };
%s
time = { end = 1e4; };
output = { interval = 2e3; };
probes = ( { name = "left"; at = [0.0, 0.4]; }, { name = "right end"; at = [1.6, 0.4]; } );
"""
SETS = ["time.end=5e3", "grid.points=[21, 11]", "title=a b", "initial.expression=300+x^2", "time.end=0x1000"]


def heatsolve(folder, command, *arguments, boundary=""):
    (folder / "case.cfg").write_text(CASE % boundary)
    return must(folder, command, "case.cfg", *arguments)


def overrides():
    return [word for key in SETS for word in ("--set", key)]


def test_json_has_what_was_set_and_the_probes(tmp_path):
    told = json.loads(heatsolve(tmp_path, "run", "--json", "--quiet", *overrides()))
    assert told["set"] == {
        "time.end": 4096, "grid.points": [21, 11], "title": "a b", "initial.expression": "300+x^2"
    }  # fmt: skip
    with h5py.File(tmp_path / "case.h5") as f:
        assert told["probes"] == {name: f["probes"][name][-1] for name in ("left", "right end")}
        assert 299 < told["probes"]["left"] < told["probes"]["right end"]
    assert 0 < told["step"] <= told["stability_limit"]


def test_json_of_a_run_that_set_nothing(tmp_path):
    told = json.loads(heatsolve(tmp_path, "run", "--json", "--quiet"))
    assert told["set"] == {}
    with h5py.File(tmp_path / "case.h5") as f:
        assert "set" not in f


def test_the_file_has_them_as_attributes(tmp_path):
    heatsolve(tmp_path, "run", "--quiet", *overrides())
    with h5py.File(tmp_path / "case.h5") as f:
        found = dict(f["set"].attrs)
        assert found["time.end"] == 4096.0 and found["time.end"].dtype == np.float64
        assert found["grid.points"].tolist() == [21.0, 11.0]
        assert found["title"] == "a b" and found["initial.expression"] == "300+x^2"
        assert set(found) == {"time.end", "grid.points", "title", "initial.expression"}
        for name in ("left", "right end"):
            assert f["probes"][name].attrs["last"] == f["probes"][name][-1]
        assert 0 < f.attrs["step"] <= f.attrs["stability_limit"]


def test_a_resumed_run_has_what_it_was_given(tmp_path):
    heatsolve(tmp_path, "run", "--quiet", "--set", "time.end=2e3")
    told = json.loads(heatsolve(tmp_path, "run", "--quiet", "--resume", "--json", "--set", "time.end=4e3"))
    assert told["set"] == {"time.end": 4000}
    with h5py.File(tmp_path / "case.h5") as f:
        assert f["set"].attrs["time.end"] == 4000 and told["probes"]["left"] == f["probes/left"][-1]


ONE_WALL = 'boundary = { x_min = { type = "dirichlet"; value = 300; }; };'


def test_walls_that_nobody_chose_are_said_to_be_assumed(tmp_path):
    assumed = "x_min, x_max, y_min, y_max: fixed (assumed; none given)\n"
    assert f"boundary     {assumed}" in heatsolve(tmp_path, "check")
    assert f"  boundary     {assumed}" in heatsolve(tmp_path, "run")
    some = "x_min: dirichlet; x_max, y_min, y_max: fixed (assumed; none given)\n"
    assert some in heatsolve(tmp_path, "check", boundary=ONE_WALL)
    chosen = 'boundary = { all = { type = "fixed"; }; };'
    assert "x_min, x_max, y_min, y_max: fixed\n" in heatsolve(tmp_path, "check", boundary=chosen)


@pytest.mark.parametrize("command", ["check", "run"])
def test_json_tells_the_walls_and_which_are_assumed(tmp_path, command):
    told = json.loads(heatsolve(tmp_path, command, "--json", "--quiet", "--output=b.h5" if command == "run" else "--json",
                                boundary=ONE_WALL))  # fmt: skip
    assert told["boundary"] == {"x_min": "dirichlet", "x_max": "fixed", "y_min": "fixed", "y_max": "fixed"}
    assert told["boundary_assumed"] == ["x_max", "y_min", "y_max"]


def test_the_guides_study_prints_its_table(tmp_path):
    pytest.importorskip("pandas")
    readme = (ROOT / "README.md").read_text()
    rod = re.search(r"((?:    .*\n)+)\nThen", readme).group(1)
    (tmp_path / "rod.cfg").write_text("".join(line[4:] for line in rod.splitlines(True)))
    section = re.search(r"^## A study of many runs\n(.*?)^## ", (ROOT / "docs/guide.md").read_text(), re.M | re.S).group(1)
    blocks = ["".join(line[4:] for line in block.splitlines(True)) for block in re.findall(r"((?:^    .*\n)+)", section, re.M)]
    loop, table, printed, attributes = blocks
    path = f"{pathlib.Path(HEATSOLVE).parent}:{os.environ['PATH']}"
    subprocess.run(["sh", "-ec", loop], cwd=tmp_path, env=dict(os.environ, PATH=path), check=True)
    told = subprocess.run([sys.executable, "-c", table], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert told.stdout == printed
    told = subprocess.run([sys.executable, "-c", attributes], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert re.match(r"25\.0 318\.09", told.stdout)
