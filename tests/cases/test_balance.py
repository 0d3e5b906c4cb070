"""The heat balance of whole runs: what the file has of it, what the run says, and that no way of running changes it."""

import json
import os
import subprocess

import h5py
import numpy as np
import pytest
from helpers import BACKEND, HEATSOLVE, columns, config, run

MATERIAL = {"conductivity": 4.0, "density": 8.0, "specific_heat": 0.25}
COOLED = {
    "grid": {"points": [21, 15], "upper": [1.0, 0.5]},
    "material": MATERIAL,
    "initial": {"expression": "300 + 50*sin(7*x + 3*y)"},
    "boundary": {
        "x_min": {"type": "dirichlet", "value": "300 + 20*sin(40*t) + y"},
        "x_max": {"type": "robin", "h": 25.0, "ambient": 293.0},
        "y_min": {"type": "neumann", "flux": "-500 + 100*x"},
        "y_max": {"type": "fixed"},
    },
    "source": {"expression": "1000*exp(-(x - t)^2 - y^2)"},
    "time": {"sweeps": 240},
    "output": {"every": 40},
}
FLUXES = ["flux/x_min", "flux/x_max", "flux/y_min", "flux/y_max"]


def told(directory, settings, *arguments):
    """What run says, as lines and as JSON."""
    settings = {**settings, "output": {"file": "told.h5", **settings.get("output", {})}, "solver": {"backend": BACKEND}}
    (directory / "told.cfg").write_text(config(settings))
    said = []
    for more in ([], ["--json"]):
        command = [HEATSOLVE, "run", "told.cfg", "--overwrite", *arguments, *more]
        done = subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        said.append(done.stdout)
    return said[0], json.loads(said[1])


def test_rows_say_where_heat_goes(tmp_path):
    history = run(tmp_path, COOLED).history
    assert set(FLUXES) <= set(history)
    leaving = sum(history[name] for name in FLUXES)
    # sums of five terms of some 1e3 W
    assert history["stored"][1:] + leaving[1:] - history["source"][1:] == pytest.approx(history["imbalance"][1:], abs=1e-11)
    assert np.abs(history["imbalance"][1:]).max() <= 1e-12 * np.abs(leaving[1:]).max() + 1e-10
    assert all(np.isnan(history[name][0]) for name in FLUXES + ["source", "stored", "imbalance"])


def test_what_is_stored_is_the_growth_of_the_heat(tmp_path):
    result = run(tmp_path, {**COOLED, "output": {"every": 1}, "time": {"sweeps": 20}})
    growth = np.diff(result.history["heat"]) / result.attributes["step"]
    # heat is 300 J/m, to its last bits, and the step 1e-4 s
    assert result.history["stored"][1:] == pytest.approx(growth, abs=4 * 300 * 2.0**-52 / result.attributes["step"])


def test_the_file_says_units_and_meaning(tmp_path):
    run(tmp_path, COOLED)
    with h5py.File(tmp_path / "case.h5") as f:
        for name in FLUXES + ["source", "stored", "imbalance"]:
            assert f["history"][name].attrs["units"] == "W/m"
            assert f["history"][name].attrs["long_name"]
        assert f["history/flux/x_max"].dims[0][0] == f["history/time"]


def test_run_says_that_it_closes(tmp_path):
    text, values = told(tmp_path, COOLED)
    (line,) = [line for line in text.splitlines() if line.startswith("  balance ")]
    assert "closes to" in line and line.endswith(" W/m")
    assert any(line.startswith("  heat out     x_min ") for line in text.splitlines())
    assert abs(values["imbalance_worst"]) <= values["imbalance_rounding"] < 1e-9 * values["imbalance_largest"]
    with h5py.File(tmp_path / "told.h5") as f:
        assert values["flux/x_max"] == f["history/flux/x_max"][-1]
        assert values["imbalance"] == f["history/imbalance"][-1]
        assert abs(values["imbalance_worst"]) in np.abs(f["history/imbalance"][:])


@pytest.mark.parametrize("change", [{"stencil": {"radius": 2}}, {"stencil": {"c0": 0.5, "c1": 0.125, "c2": 0.125, "c3": 0.125, "c4": 0.125}}])
def test_there_is_none_where_fluxes_are_not_defined(tmp_path, change):
    settings = {**COOLED, **change, "boundary": {"all": {"type": "fixed"}}}
    del settings["source"]
    if "c0" in change["stencil"]:
        del settings["material"]
    text, values = told(tmp_path, settings)
    assert "balance" not in text and "heat out" not in text
    assert values["imbalance"] is None and values["imbalance_worst"] is None
    with h5py.File(tmp_path / "told.h5") as f:
        assert not {"flux", "source", "stored", "imbalance"} & set(f["history"])


def test_an_end_at_a_steady_state_has_its_fluxes(tmp_path):
    settings = {
        "grid": {"points": [11], "upper": [2.0]},
        "material": MATERIAL,
        "initial": {"value": 20.0},
        "boundary": {"x_min": {"type": "dirichlet", "value": 100.0}, "x_max": {"type": "robin", "h": 6.0, "ambient": 20.0}},
        "steady": {"tolerance": 1e-12, "check_every": 7},
    }
    history = run(tmp_path, settings).history
    # 80 K over 2 m/k + 1/h; a change of 1e-12 K a sweep leaves 1e-10 K, of 200 W/K
    assert history["flux/x_min"][-1] == pytest.approx(-120.0, abs=1e-7)
    assert history["flux/x_max"][-1] == pytest.approx(120.0, abs=1e-7)


BODY = {
    "materials": (
        {"name": "a", "conductivity": 40.0, "density": 800.0, "specific_heat": 25.0, "source": "1000*exp(-t)"},
        {"name": "b", "conductivity": 2.0, "density": 500.0, "specific_heat": 60.0, "perfusion": {"rate": 2000.0, "reference": 310.0}},
    ),
    "body": ({"material": "a"}, {"material": "b", "shape": "sphere", "centre": [0.1, 0.05, 0.04], "radius": 0.03}),
}


def groups(value):
    """libconfig's lists of groups: helpers.config makes arrays of numbers."""
    if isinstance(value, dict):
        return "{ " + " ".join(f"{key} = {groups(v)};" for key, v in value.items()) + " }"
    if isinstance(value, tuple):
        return "( " + ", ".join(groups(v) for v in value) + " )"
    return config({"x": value})[len("x = ") : -len(";\n")]


def run_body(directory, *arguments, name="body", kernel="auto", **more):
    settings = {
        "grid": {"points": [15, 12, 10], "upper": [0.2, 0.11, 0.09]},
        **BODY,
        "initial": {"expression": "300 + 50*sin(7*x+3*y)"},
        "boundary": {
            "x_min": {"type": "dirichlet", "value": "300 + 20*sin(t)"},
            "x_max": {"type": "robin", "h": 25.0, "ambient": 293.0},
            "z_max": {
                "type": "neumann",
                "flux": -1e3,
                "patches": ({"lower": [0.02, 0.02], "upper": [0.07, 0.05], "type": "fixed"},),
            },
        },
        "time": {"sweeps": 240},
        "output": {"file": f"{name}.h5", "every": 40},
        "solver": {"backend": "cpu", "kernel": kernel},
        **more,
    }
    (directory / f"{name}.cfg").write_text("".join(f"{key} = {groups(v)};\n" for key, v in settings.items()))
    command = [HEATSOLVE, "run", f"{name}.cfg", "--quiet", *arguments]
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    with h5py.File(directory / f"{name}.h5") as f:
        return columns(f["history"])


def test_patches_of_a_body_have_their_own(tmp_path):
    history = run_body(tmp_path)
    fluxes = {name for name in history if name.startswith("flux/")}
    assert fluxes == {f"flux/{wall}" for wall in ("x_min", "x_max", "y_min", "y_max", "z_min", "z_max", "z_max_1")}
    # all of the face but what is in the patch, and half a cell around that, which is held with it
    assert history["flux/z_max"][-1] == pytest.approx(-1e3 * (0.2 * 0.11 - 0.05 * 0.03), rel=1e-12)
    total = sum(history[name][1:] for name in fluxes) + history["stored"][1:] - history["source"][1:]
    assert total == pytest.approx(history["imbalance"][1:], abs=1e-10)
    assert np.abs(history["imbalance"][1:]).max() <= 1e-12 * max(np.abs(history[name][1:]).max() for name in fluxes)


def assert_same_rows(one, other, places=slice(None)):
    assert set(one) == set(other)
    for name in one:
        assert one[name].tobytes() == other[name].tobytes(), name


@pytest.mark.parametrize("precision", ["double", "float"])
@pytest.mark.parametrize("kind", ["stencil", "body"])
def test_a_run_that_goes_on_has_the_same_rows(tmp_path, kind, precision):
    rows = []
    for name, ends in (("whole", [240]), ("parts", [100, 140, 240])):
        for n, end in enumerate(ends):
            more = ["--set", f"time.sweeps={end}", "--set", f'precision="{precision}"'] + (["--resume"] if n else [])
            if kind == "body":
                last = run_body(tmp_path, *more, name=name)
            else:
                settings = {**COOLED, "output": {"file": f"{name}.h5", "every": 20}, "solver": {"backend": BACKEND}}
                (tmp_path / f"{name}.cfg").write_text(config(settings))
                command = [HEATSOLVE, "run", f"{name}.cfg", "--quiet", *more]
                subprocess.run(command, cwd=tmp_path, check=True, timeout=300)
                with h5py.File(tmp_path / f"{name}.h5") as f:
                    last = columns(f["history"])
        rows.append(last)
    if kind == "body":  # rows at 100 and 140 were ends, between those that are due
        keep = np.isin(rows[1]["sweep"], rows[0]["sweep"])
        rows[1] = {name: column[keep] for name, column in rows[1].items()}
    assert_same_rows(*rows)


def test_neither_kernels_nor_threads_nor_stops_change_a_row(tmp_path):
    first = run(tmp_path, {**COOLED, "solver": {"backend": "cpu", "kernel": "reference", "threads": 1}}).history
    for kernel in ("openmp", "wavefront"):
        solver = {"backend": "cpu", "kernel": kernel, "threads": 2}
        assert_same_rows(first, run(tmp_path, {**COOLED, "solver": solver}).history)
    often = run(tmp_path, {**COOLED, "output": {"every": 40, "history_every": 8}}).history
    due = np.isin(often["sweep"], first["sweep"])
    if os.environ.get("HEATSOLVE_BACKEND", "cpu") == "cpu":
        assert_same_rows(first, {name: column[due] for name, column in often.items()})


def test_no_row_changes_the_field(tmp_path):
    seldom = run(tmp_path, {**COOLED, "output": {}}, name="seldom")
    often = run(tmp_path, {**COOLED, "output": {"history_every": 1}}, name="often")
    assert seldom.field.tobytes() == often.field.tobytes()
