"""The heat balance of whole runs: in the file, as the run reports it, and that no way of running changes it."""

import json
import os

import h5py
import numpy as np
import pytest
from helpers import BACKEND, assert_order, command, config, run
from program import columns, must
from scipy.optimize import brentq

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
    """What `run` reports: the text, and the values of --json."""
    settings = {**settings, "output": {"file": "told.h5", **settings.get("output", {})}, "solver": {"backend": BACKEND}}
    (directory / "told.cfg").write_text(config(settings))
    said = []
    for more in ([], ["--json"]):
        said.append(must(directory, "run", "told.cfg", "--overwrite", *arguments, *more, timeout=300))
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
    # heat is 300 J/m to its last bits, and the step is 1e-4 s
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
        assert abs(values["imbalance_worst"]) == np.nanmax(np.abs(f["history/imbalance"][:]))


COOLING = {
    "grid": {"points": [31], "upper": [0.1]},
    "material": {"conductivity": 50.0, "density": 7800.0, "specific_heat": 460.0},
    "initial": {"value": 350.0},
    "boundary": {"all": {"type": "reflective"}, "x_min": {"type": "robin", "h": 500.0, "ambient": 300.0}},
}


@pytest.mark.parametrize(
    "time, span",
    [
        ({"method": "exponential"}, "the last step of 300 s"),
        ({"method": "rkl2", "step": 50.0}, "the last step of 50 s"),
        ({"method": "implicit", "tolerance": 1e-3}, "the last part of a step of 300 s"),
        ({"method": "spectral"}, None),
        ({}, None),
    ],
)
def test_a_mean_over_a_long_step_is_called_so(tmp_path, time, span):
    """By `exponential` the wall gives off 13.4 kW/m^2 at the end, and gave off 16.5 in the mean over the one step."""
    text, values = told(tmp_path, {**COOLING, "time": {"end": 300.0, **time}})
    with h5py.File(tmp_path / "told.h5") as f:
        at_end = 500.0 * (f["temperature"][-1, 0] - 300.0)
    lines = text.splitlines()
    row = next(n for n, line in enumerate(lines) if line.startswith("  heat out     x_min "))
    if span:
        assert values["flux/x_min"] > 1.001 * at_end
        assert lines[row + 1] == f"               means over {span}, not what flows at its end"
    else:
        assert values["flux/x_min"] == pytest.approx(at_end, rel=1e-3)
        assert lines[row + 1].startswith("  balance ")


def test_no_mean_is_spoken_of_where_there_is_no_wall(tmp_path):
    ring = {**COOLING, "boundary": {"all": {"type": "periodic"}}, "time": {"end": 300.0, "method": "exponential"}}
    text, _ = told(tmp_path, ring)
    assert "heat out" not in text and "means over" not in text and "balance " in text


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
    # 80 K over 2 m/k + 1/h; the tolerance, a change of 1e-12 K a sweep, leaves 1e-10 K, times 200 W/K
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
    """Formats libconfig's lists of groups; helpers.config makes arrays of numbers."""
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
    must(directory, "run", f"{name}.cfg", "--quiet", *arguments, timeout=300)
    with h5py.File(directory / f"{name}.h5") as f:
        return columns(f["history"])


def test_patches_of_a_body_have_their_own(tmp_path):
    history = run_body(tmp_path)
    fluxes = {name for name in history if name.startswith("flux/")}
    assert fluxes == {f"flux/{wall}" for wall in ("x_min", "x_max", "y_min", "y_max", "z_min", "z_max", "z_max_1")}
    # all of the face except the patch and half a cell around it, which is held with the patch
    assert history["flux/z_max"][-1] == pytest.approx(-1e3 * (0.2 * 0.11 - 0.05 * 0.03), rel=1e-12)
    total = sum(history[name][1:] for name in fluxes) + history["stored"][1:] - history["source"][1:]
    assert total == pytest.approx(history["imbalance"][1:], abs=1e-10)
    assert np.abs(history["imbalance"][1:]).max() <= 1e-12 * max(np.abs(history[name][1:]).max() for name in fluxes)


SOURCES = {
    "an expression": {"material": MATERIAL, "source": {"expression": "1000*exp(-(x - t)^2 - y^2)"}},
    "a number": {"material": MATERIAL, "source": {"value": 300.0}},
    "a file": {"material": MATERIAL, "source": {"file": "source.npy"}},
    "materials": {
        "materials": (BODY["materials"][0], {**BODY["materials"][0], "name": "b", "source": 20.0}),
        "body": ({"material": "a"}, {"material": "b", "shape": "sphere", "centre": [0.1, 0.05], "radius": 0.03}),
        "source": {"expression": "x + t"},
    },
    "nothing": {"material": MATERIAL},
    "what falls between nodes": {"material": MATERIAL, "source": {"expression": "abs(x - 0.107) < 0.001 ? 1e6 : 0"}},
}


@pytest.mark.parametrize("name", SOURCES)
def test_check_tells_what_sources_put_in(tmp_path, name):
    """It is what the first sweep begins with."""
    np.save(tmp_path / "source.npy", np.random.default_rng(1).random((12, 15)))
    settings = {
        "grid": {"points": [15, 12], "upper": [0.2, 0.11]},
        **SOURCES[name],
        "initial": {"value": 300.0},
        "boundary": {"x_min": {"type": "robin", "h": 25.0, "ambient": 293.0}, "y_max": {"type": "fixed"}},
        "time": {"sweeps": 1},
        "output": {"file": "case.h5"},
        "solver": {"backend": "cpu"},
    }
    (tmp_path / "case.cfg").write_text("".join(f"{key} = {groups(v)};\n" for key, v in settings.items()))
    power = json.loads(must(tmp_path, "check", "case.cfg", "--json"))["source_power"]
    told = must(tmp_path, "check", "case.cfg")
    must(tmp_path, "run", "case.cfg", "--quiet")
    with h5py.File(tmp_path / "case.h5") as f:
        first = f["history/source"][1]
    assert (power or 0.0) == pytest.approx(first, rel=1e-12)
    assert (power is None) == (name == "nothing") == ("source  " not in told)
    assert ("changes with time" in told) == (name in ("an expression", "materials"))
    assert (first == 0.0) == (name in ("nothing", "what falls between nodes"))


def assert_same_rows(one, other, places=slice(None)):
    assert set(one) == set(other)
    for name in one:
        assert one[name].tobytes() == other[name].tobytes(), name


def whole_and_in_parts(directory, kind, precision, key, stops, **more):
    """The history of a run to the last of these stops, and of a run that is resumed at each of them."""
    rows = []
    for name, ends in (("whole", stops[-1:]), ("parts", stops)):
        output = {"file": f"{name}.h5", **more.get("output", {"every": 20})}
        for n, end in enumerate(ends):
            options = ["--set", f"{key}={end}", "--set", f'precision="{precision}"'] + (["--resume"] if n else [])
            if kind == "body":
                last = run_body(directory, *options, name=name, **({**more, "output": output} if more else {}))
            else:
                settings = {**COOLED, **more, "output": output, "solver": {"backend": BACKEND}}
                (directory / f"{name}.cfg").write_text(config(settings))
                must(directory, "run", f"{name}.cfg", "--quiet", *options, timeout=300)
                with h5py.File(directory / f"{name}.h5") as f:
                    last = columns(f["history"])
        rows.append(last)
    return rows


@pytest.mark.parametrize("precision", ["double", "float"])
@pytest.mark.parametrize("kind", ["stencil", "body"])
def test_a_run_that_goes_on_has_the_same_rows(tmp_path, kind, precision):
    rows = whole_and_in_parts(tmp_path, kind, precision, "time.sweeps", [100, 140, 240])
    if kind == "body":  # the rows at 100 and 140, ends of runs, are not at the regular interval
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


# ---- steps that are no sweeps -----------------------------------------------------------------


def steps(method, end, count, **more):
    return {"method": method, "end": end, "step": end / count, **more}


class Slab:
    """1 m between a wall at 20 K and one that convects to 20 K, with two of its modes: Carslaw and Jaeger, 3.10."""

    K, H, DIFFUSIVITY, END = 4.0, 6.0, 2.0, 0.2  # W/(m K), W/(m^2 K), m^2/s of MATERIAL, s
    AMPLITUDES = (30.0, 2.0)

    def __init__(self):
        def zero(b):
            return self.K * b * np.cos(b) + self.H * np.sin(b)

        self.waves = [brentq(zero, (n + 0.5) * np.pi + 1e-9, (n + 1) * np.pi) for n in range(2)]

    def settings(self, cells, operator):
        modes = "+".join(f"{a!r}*sin({float(b)!r}*x)" for a, b in zip(self.AMPLITUDES, self.waves))
        body = {"materials": [{"name": "a", **MATERIAL}, {"name": "b", **MATERIAL}], "body": [{"material": "a"}]}
        body["body"].append({"material": "b", "shape": "box", "lower": [0.3], "upper": [0.6]})
        return {
            "grid": {"points": [cells + 1], "upper": [1.0]},
            **(body if operator == "body" else {"material": MATERIAL}),
            "initial": {"expression": "20+" + modes},
            "boundary": {"x_min": {"type": "dirichlet", "value": 20.0}, "x_max": {"type": "robin", "h": self.H, "ambient": 20.0}},
        }

    def leaves(self, times):
        """W/m^2 through both walls, averaged over each step between the times."""
        found = np.zeros((2, len(times) - 1))
        for a, b in zip(self.AMPLITUDES, self.waves):
            rate = self.DIFFUSIVITY * b * b
            mean = -np.diff(np.exp(-rate * times)) / (rate * np.diff(times))
            found += np.outer([self.K * a * b, self.H * a * np.sin(b)], mean)
        return found


@pytest.mark.parametrize(
    "method, operator",
    [("rkl2", "stencil"), ("rkl2", "body"), ("implicit", "stencil"), ("implicit", "body"), ("exponential", "stencil")],
)
def test_the_flux_of_a_step_is_the_mean_of_the_series(tmp_path, method, operator):
    slab, errors = Slab(), []
    for n in (1, 2, 4):
        more = {"time": steps(method, slab.END, 60 * n), "output": {"history_every": 1}}
        history = run(tmp_path, {**slab.settings(20 * n, operator), **more}).history
        exact = slab.leaves(history["time"])
        found = np.array([history["flux/x_min"][1:], history["flux/x_max"][1:]])
        errors.append(np.abs(found - exact).max() / np.abs(exact).max())
    assert errors[-1] <= 2e-3  # about (b/80)^2 for the second mode
    assert_order(errors, 1.9, 2.1, f"{method} {operator}")


@pytest.mark.parametrize("method", ["rkl2", "implicit", "exponential"])
@pytest.mark.parametrize("precision", ["double", "float"])
def test_rows_of_all_steps_add_up_to_what_the_body_gained(tmp_path, method, precision):
    """If each step has a row, the gained heat is the sum over all rows of sources minus the flow through the walls."""
    settings = {**COOLED, "time": steps(method, 0.2, 25), "output": {"history_every": 1}, "precision": precision}
    if method == "exponential":  # it cannot do what changes with time
        settings = json.loads(json.dumps(settings).replace("*t", "*1").replace("- t", "- 1"))
    history = run(tmp_path, settings).history
    step = np.diff(history["time"])
    gained = history["heat"][-1] - history["heat"][0]
    flows = sum(history[name] for name in FLUXES)
    through = ((history["source"] - flows)[1:] * step).sum()
    turned = np.abs(flows[1:] * step).sum()
    # an implicit step is solved to a tenth of its error in time; otherwise 25 steps of a rounded field of 300 J/m
    assert abs(through - gained) <= (1e-3 if method == "implicit" else 1e-12 if precision == "double" else 1e-4) * turned
    assert abs(gained) > 0.05 * turned
    # heat is rounded in its last bits; in float the field is, too
    rounding = 300 * (2.0**-52 if precision == "double" else 2.0**-23)
    assert history["stored"][1:] == pytest.approx(np.diff(history["heat"]) / step, abs=4 * rounding / step[0])


@pytest.mark.parametrize("method", ["rkl2", "implicit"])
def test_a_flux_that_is_given_is_what_its_step_had_of_it(tmp_path, method):
    """The flux of a row is the mean of 1 + sin(20 t) over its step, to second order; half a metre of wall."""
    errors = []
    for count in (40, 80, 160):
        walls = {"y_min": {"type": "neumann", "flux": "-1-sin(20*t)"}}
        settings = {**COOLED, "boundary": walls, "time": steps(method, 0.4, count), "output": {"history_every": 1}}
        del settings["source"]
        history = run(tmp_path, settings).history
        t = history["time"]
        exact = -(np.diff(t) - np.diff(np.cos(20 * t)) / 20) / np.diff(t)
        errors.append(np.abs(history["flux/y_min"][1:] - exact).max())
    assert_order(errors, 1.8, 2.4, method)


@pytest.mark.parametrize("method, count", [("rkl2", 24), ("implicit", 24)])
@pytest.mark.parametrize("cut", [{}, {"tolerance": 0.05}], ids=["whole", "cut"])
def test_run_says_that_longer_steps_close(tmp_path, method, count, cut):
    text, values = told(tmp_path, {**COOLED, "time": steps(method, 0.2, count, **cut), "output": {"every": 6}})
    (line,) = [line for line in text.splitlines() if line.startswith("  balance ")]
    assert "closes to" in line and line.endswith(" W/m")
    assert any(line.startswith("  heat out     x_min ") for line in text.splitlines())
    assert abs(values["imbalance_worst"]) <= values["imbalance_rounding"]
    assert abs(values["imbalance_worst"]) <= (1e-12 if method == "rkl2" else 1e-3) * values["imbalance_largest"]
    with h5py.File(tmp_path / "told.h5") as f:
        assert abs(values["imbalance_worst"]) == np.nanmax(np.abs(f["history/imbalance"][:]))


def test_the_worst_row_is_that_of_the_largest_imbalance(tmp_path):
    """It is not a later row with a smaller imbalance that is larger relative to its own, smaller bound."""
    walls = {"x_min": {"type": "robin", "h": 5.0, "ambient": "300+200*exp(-3*t)"}}
    settings = {**COOLED, "boundary": walls, "time": {"end": 5.0, "step": 0.05, "method": "implicit"}, "output": {"history_every": 1}}
    del settings["source"]
    text, values = told(tmp_path, settings)
    assert "closes to" in text
    with h5py.File(tmp_path / "told.h5") as f:
        assert abs(values["imbalance_worst"]) == np.nanmax(np.abs(f["history/imbalance"][:]))


def test_an_imbalance_counts_beside_the_largest_heat_of_any_row(tmp_path):
    """A step after its load is off leaves what it left before, and then hardly any heat flows."""
    walls = {"all": {"type": "reflective"}, "x_min": {"type": "neumann", "flux": "t < 0.2 ? -500 : 0"}}
    walls["x_max"] = {"type": "robin", "h": 1e-6, "ambient": 300.0}
    time = {"end": 0.3, "method": "implicit", "tolerance": 0.5}
    settings = {**COOLED, "initial": {"value": 300.0}, "boundary": walls, "time": time, "output": {"interval": 0.01}}
    del settings["source"]
    text, values = told(tmp_path, settings)
    (line,) = [line for line in text.splitlines() if line.startswith("  balance ")]
    assert "closes to" in line and line.endswith(" of 250 W/m")  # half a metre of wall
    assert values["imbalance_largest"] == pytest.approx(250.0)


def test_heat_that_goes_from_source_to_sink_is_not_denied(tmp_path):
    """The source of a row is net: 0.5 W per square metre are put in and taken out, and no term shows it."""
    settings = {
        "grid": {"points": [21], "upper": [1.0]},
        "materials": [{"name": "tissue", **MATERIAL, "source": 0.5, "perfusion": {"rate": 0.25, "reference": 298.0}}],
        "body": [{"material": "tissue"}],
        "initial": {"value": 300.0},
        "boundary": {"all": {"type": "reflective"}},
        "time": {"sweeps": 10},
        "output": {"every": 1},
    }
    text, values = told(tmp_path, settings)
    assert abs(values["source"]) < 1e-12  # rounding of 0.5 W, and of perfusion at 300 K
    assert "  balance      closes: no term is larger than what rounding can leave\n" in text


@pytest.mark.parametrize("precision", ["double", "float"])
@pytest.mark.parametrize("kind", ["stencil", "body"])
def test_a_run_of_longer_steps_that_goes_on_has_the_same_rows(tmp_path, kind, precision):
    more = {"time": steps("rkl2", 0.024, 24), "output": {"interval": 0.002, "history_every": 1}}
    rows = whole_and_in_parts(tmp_path, kind, precision, "time.end", [0.01, 0.014, 0.024], **more)
    assert len(rows[0]["sweep"]) == 25 and np.isfinite(rows[0]["imbalance"][1:]).all()
    assert_same_rows(*rows)


RESTING = {
    "grid": {"points": [40, 30, 20], "upper": [1.0, 0.8, 0.5]},
    "material": MATERIAL,
    "initial": {"expression": "300 + 50*sin(7*x + 3*y)*z"},
    "boundary": {"x_min": {"type": "dirichlet", "value": "300 + y"}, "z_max": {"type": "robin", "h": 25.0, "ambient": "290 + x"}},
    "source": {"expression": "1e3*x*y"},
}


@pytest.mark.parametrize("case", [COOLED, RESTING], ids=["moving", "resting"])
@pytest.mark.parametrize("precision", ["double", "float"])
def test_neither_kernels_nor_threads_change_a_row_of_longer_steps(tmp_path, case, precision):
    """If nothing changes with time one kernel makes several stages in a pass, the other a sweep and a sum for each."""
    settings = {**case, "time": steps("rkl2", 0.02, 4), "output": {"history_every": 2}, "precision": precision}
    first = run(tmp_path, {**settings, "solver": {"backend": "cpu", "kernel": "wavefront", "threads": 1}}).history
    assert np.isfinite(first["imbalance"][1:]).all()
    for threads in (1, 2):
        solver = {"backend": "cpu", "kernel": "openmp", "threads": threads}
        assert_same_rows(first, run(tmp_path, {**settings, "solver": solver}).history)


@pytest.mark.skipif(BACKEND == "cpu", reason="of a GPU beside the CPU")
@pytest.mark.parametrize("precision", ["double", "float"])
@pytest.mark.parametrize("case", ["resting", "moving", "layers"])
@pytest.mark.parametrize("cut", [{}, {"tolerance": 0.5}], ids=["whole", "cut"])
def test_a_gpu_has_the_fluxes_of_the_cpu(tmp_path, case, precision, cut):
    """The fluxes have the same bits, since the host computes them from a mean field with the same bits. Only sums over
    all nodes may differ in their last bits, and are absent where no tolerance needs them."""
    settings = {**RESTING, "time": steps("rkl2", 0.02, 4, **cut), "output": {"history_every": 2}, "precision": precision}
    if case != "resting":
        settings["boundary"] = {**RESTING["boundary"], "x_max": {"type": "dirichlet", "value": "300 + 1e3*t*y"}}
    if case == "layers":
        materials = [{"name": "a", **MATERIAL}, {"name": "b", **MATERIAL, "conductivity": 0.4}]
        box = {"material": "b", "shape": "box", "lower": [0.2, 0.1, 0.0], "upper": [0.6, 0.5, 0.3]}
        settings = {name: value for name, value in settings.items() if name != "material"}
        settings.update(materials=materials, body=[{"material": "a"}, box])
    rows = [run(tmp_path, {**settings, "solver": {"backend": backend}}).history for backend in ("cpu", BACKEND)]
    fluxes = [{name: column for name, column in history.items() if name.startswith("flux/")} for history in rows]
    assert_same_rows(*fluxes)
    assert all(np.isfinite(history["imbalance"][1:]).all() for history in rows)


@pytest.mark.parametrize(
    "case, method, cut",
    [(case, method, cut) for case in ("moving", "resting") for method in ("rkl2", "implicit") for cut in (0.0, 0.5)]
    + [("resting", "exponential", 0.0)],
)
def test_no_row_of_longer_steps_changes_the_field(tmp_path, case, method, cut):
    case, cut = {"moving": COOLED, "resting": RESTING}[case], {"tolerance": cut} if cut else {}
    settings = {**case, "time": steps(method, 0.02, 6, **cut)}
    seldom = run(tmp_path, {**settings, "output": {}}, name="seldom")
    often = run(tmp_path, {**settings, "output": {"history_every": 1}}, name="often")
    if method == "exponential":  # each stop starts again from the modes of the first field, by matrix products
        assert np.abs(seldom.field - often.field).max() <= 1e-11
    else:
        assert seldom.field.tobytes() == often.field.tobytes()


def test_the_power_of_a_stencils_fluxes_is_told(tmp_path):
    """By hand: areas of a block of 0.2 x 0.3 x 0.4 m; a flux that is linear along the wall is its mean."""
    settings = {
        "grid": {"points": [5, 6, 7], "upper": [0.2, 0.3, 0.4]},
        "material": {"conductivity": 2.5, "density": 2.0, "specific_heat": 3.0},
        "initial": {"value": 300.0},
        "boundary": {
            "x_min": {"type": "neumann", "flux": -3.0},
            "y_max": {"type": "neumann", "gradient": 8.0},
            "z_min": {"type": "neumann", "flux": "10*x+t"},
            "z_max": {"type": "robin", "h": 5.0, "ambient": 280.0},
            "x_max": {"type": "dirichlet", "value": 310.0},
            "y_min": {"type": "reflective"},
        },
        "time": {"sweeps": 1},
        "output": {"history_every": 1},
    }
    told = json.loads(command(tmp_path, settings, "check", "--json").stdout)["flux_power"]
    due = {"x_min": -3.0 * 0.3 * 0.4, "y_max": -2.5 * 8.0 * 0.2 * 0.4, "z_min": 10.0 * 0.1 * 0.2 * 0.3}
    assert told == {name: pytest.approx(power, rel=1e-12) for name, power in due.items()}
    history = run(tmp_path, settings).history  # the other faces' flux depends on the temperature
    assert {name: history[f"flux/{name}"][-1] for name in due} == pytest.approx(due, rel=1e-9)
    said = command(tmp_path, settings, "check").stdout
    assert "flux         x_min: -0.36 W at t = 0\n" in said and "z_min: 0.06 W at t = 0, changes with time\n" in said and "-1.9 W in all, outward" in said
