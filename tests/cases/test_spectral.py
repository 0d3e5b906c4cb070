"""Any number of sweeps at once, by modes: whole runs against runs by sweeps, against exact answers, and what is
refused. tests/unit/engine/test_modes.c covers every kind of wall, dims, radius and precision.
"""

import json
import math
import os
import re
import resource

import h5py
import numpy as np
import pytest
from helpers import assert_order, command, config, refused, run, unit_grid
from program import HEATSOLVE, heatsolve

STEEL = {"conductivity": 50.0, "density": 7850.0, "specific_heat": 460.0}
WALLS = {
    "x_min": {"type": "robin", "h": 500.0, "ambient": 293.0},
    "x_max": {"type": "dirichlet", "value": 350.0},
    "y_min": {"type": "neumann", "flux": "-2e4*x"},
    "y_max": {"type": "reflective"},
    "z_min": {"type": "clamp"},
    "z_max": {"type": "constant", "value": 310.0},
}
BLOCK = {
    "grid": {"points": [21, 17, 13], "upper": [0.1, 0.08, 0.06]},
    "material": STEEL,
    "initial": {"expression": "300+40*sin(40*x)*cos(30*y)+500*z"},
    "source": {"expression": "1e6*x/0.1"},
    "boundary": WALLS,
    "probes": [{"name": "middle", "at": [0.05, 0.04, 0.03]}],
}


def case(method, **time):
    return {**BLOCK, "time": {**time, "method": method}}


# the modes are exact to 1e-11 of 350 K; rates of change in W are differences of such fields
def test_a_run_has_the_snapshots_and_the_history_of_sweeps(tmp_path):
    output = {"interval": 7.0, "history_every": 50}
    swept = run(tmp_path, {**case("euler", end=30.0), "output": output}, "swept")
    jumped = run(tmp_path, {**case("spectral", end=30.0), "output": output}, "jumped")
    with h5py.File(tmp_path / "swept.h5") as a, h5py.File(tmp_path / "jumped.h5") as b:
        assert np.array_equal(a["time"], b["time"]) and len(a["time"]) == 6
        assert np.abs(a["temperature"][...] - b["temperature"][...]).max() <= 1e-11 * 350.0
    assert jumped.attributes["method"] == b"spectral" or jumped.attributes["method"] == "spectral"
    assert swept.history.keys() == jumped.history.keys()
    for name, expected in swept.history.items():
        if name != "imbalance":
            scale = np.nanmax(np.abs(expected))
            assert np.allclose(jumped.history[name], expected, rtol=0.0, atol=1e-9 * scale, equal_nan=True), name
    # the last sweep before each stop is a real one, so its heat balance closes as for any sweep
    assert np.nanmax(np.abs(jumped.history["imbalance"])) <= 1e-6 * np.nanmax(np.abs(swept.history["source"]))


def test_it_jumps_and_says_so(tmp_path):
    done = command(tmp_path, case("spectral", sweeps=10000000), "run", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["method"] == "spectral" and report["sweeps"] == 10000000 and report["gcells"] is None
    assert done.stderr.count("sweep ") == 1  # no stops for progress
    with h5py.File(tmp_path / "case.h5") as f:
        assert len(f["time"]) == 2 and len(f["history/sweep"]) == 2


def test_a_run_is_continued_in_the_middle(tmp_path):
    output = {"interval": 5.0}
    for method in ("spectral", "exponential"):
        whole = run(tmp_path, {**case(method, end=20.0), "output": output}, "whole")
        run(tmp_path, {**case(method, end=10.0), "output": output}, "part")
        done = command(tmp_path, {**case(method, end=20.0), "output": output}, "run", "--resume", "--quiet", name="part")
        assert done.returncode == 0, done.stderr
        with h5py.File(tmp_path / "part.h5") as f:
            assert np.array_equal(f["time"], whole.time)
            assert np.abs(f["temperature"][-1] - whole.field).max() <= 1e-11 * 350.0


# ---- against what is known ------------------------------------------------------------------


def mode(cells, radius, method, **time):
    """A product of sines between cold walls, and the decay rate [1/s] of the grid's equations for it."""
    boundary = {f"{a}_{side}": {"type": "dirichlet", "value": 0.0} for a in "xy" for side in ("min", "max")}
    settings = {
        "grid": {"points": [cells + 1, cells + 1], "upper": [1.0, 1.0]},
        "stencil": {"radius": radius},
        "material": {"diffusivity": 1.0},
        "initial": {"expression": "sin(pi*x)*sin(2*pi*y)"},
        "boundary": boundary,
        "time": {**time, "method": method},
    }
    weights = {1: [1.0], 2: [4 / 3, -1 / 12], 3: [1.5, -0.15, 1 / 90]}[radius]
    rate = sum(
        2.0 * w * (math.cos((m + 1) * k * math.pi / cells) - 1.0) * cells**2 for k in (1, 2) for m, w in enumerate(weights)
    )
    return settings, rate


@pytest.mark.parametrize("radius", [1, 2, 3])
@pytest.mark.parametrize("end", [1e-3, 0.05, 0.3])
def test_exponential_is_the_exponential_of_a_mode(tmp_path, radius, end):
    settings, rate = mode(24, radius, "exponential", end=end)
    result = run(tmp_path, settings)
    expected = result.first * math.exp(rate * end)
    # some 20 products each way, along two axes
    assert np.abs(result.field - expected).max() <= 1e-14
    assert result.attributes["sweeps"] == 1


def test_its_error_is_that_of_space_alone(tmp_path):
    errors = []
    for cells in (8, 16, 32):
        settings, _ = mode(cells, 1, "exponential", end=0.1)
        settings["exact"] = {"expression": "exp(-5*pi^2*t)*sin(pi*x)*sin(2*pi*y)"}
        errors.append(run(tmp_path, settings, f"n{cells}").error())
    assert_order(errors, 1.9, 2.2, "exponential")


def test_a_steady_plate_is_exact_to_second_order(tmp_path):
    errors = []
    for cells in (16, 32, 64):
        walls = {f"{a}_{s}": {"type": "dirichlet", "value": 0.0} for a in "xy" for s in ("min", "max")}
        walls["y_max"]["value"] = "100*sin(pi*x)"
        settings = {
            "grid": unit_grid(cells, walls, 2),
            "material": {"diffusivity": 1.0},
            "initial": {"value": 0.0},
            "boundary": walls,
            "steady": {"tolerance": 1e-10, "method": "spectral"},
            "exact": {"expression": "100*sin(pi*x)*sinh(pi*y)/sinh(pi)"},
        }
        result = run(tmp_path, settings, f"n{cells}")
        assert result.time.tolist() == [0.0] and result.attributes["steady_residual"] <= 1e-12
        errors.append(result.error())
    assert_order(errors, 1.9, 2.1, "steady")


def test_a_steady_state_is_that_of_long_sweeps_and_its_heat_balances(tmp_path):
    steady = run(tmp_path, {**BLOCK, "steady": {"tolerance": 1e-9, "method": "spectral"}}, "steady")
    swept = run(tmp_path, {**BLOCK, "steady": {"tolerance": 1e-12}}, "swept")
    assert np.abs(steady.field - swept.field).max() <= 1e-8  # K: the error that this tolerance leaves
    flux = sum(steady.history[f"flux/{wall}"][-1] for wall in WALLS)
    assert abs(flux - steady.history["source"][-1]) <= 1e-9 * abs(steady.history["source"][-1])


def test_auto_takes_a_method_that_solves(tmp_path):
    done = command(tmp_path, {**BLOCK, "steady": {"tolerance": 1e-9, "method": "auto"}}, "run", "--json", "--quiet")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["steady_method"] in ("spectral", "multigrid")


def test_auto_says_why_it_takes_sweeps(tmp_path):
    walls = {**BLOCK["boundary"], "x_min": {"type": "dirichlet", "value": "300*(1+exp(-t))"}}
    varies = {**BLOCK, "stencil": {"radius": 2}, "boundary": walls, "steady": {"tolerance": 1e-3, "method": "auto"}}
    for asked in ("check", "run"):
        done = command(tmp_path, varies, asked, "--json", "--quiet")
        told = json.loads(done.stdout)
        assert told["steady_method"] == "sweeps", done.stderr
        assert 'steady.method "auto" takes sweeps, whose tolerance is K a sweep: multigrid: it can do stencil.radius = 1, not 2; ' in told["note"]
        assert '; spectral: the wall x_min changes in time' in told["note"], told["note"]
    for more in ({"time": {"sweeps": 10}}, {"steady": {"tolerance": 1e-3}}):  # told, or not asked
        assert "takes sweeps" not in str(json.loads(command(tmp_path, {**varies, **more}, "check", "--json", "--quiet").stdout)["note"])


# ---- what is said and refused -----------------------------------------------------------------


def test_check_counts_its_memory_and_measures_no_sweeps(tmp_path):
    plain = json.loads(command(tmp_path, case("euler", sweeps=1000), "check", "--json").stdout)
    modes = json.loads(command(tmp_path, case("spectral", sweeps=1000), "check", "--json").stdout)
    swept = 20 * 17 * 13  # the last layer along x is held
    squares = 20**2 + 9**2 + 8**2 + 13**2  # y is symmetric, so its modes split into two halves
    more = modes["memory_bytes"] - plain["memory_bytes"]
    assert more == 8 * (4 * swept + 2 * squares + 11 * (20 + 17 + 13) + 2)
    assert modes["method"] == "spectral" and modes["seconds"] is None
    text = command(tmp_path, case("spectral", sweeps=1000), "check").stdout
    assert "one jump from each output to the next" in text


INSULATED = {f"{a}_{side}": {"type": "reflective"} for a in "xyz" for side in ("min", "max")}
TRAVELLING = {
    "grid": {"points": [20, 20]},
    "stencil": {"c0": 0.5, "c1": 0.2, "c2": 0.1, "c3": 0.1, "c4": 0.1},
    "initial": {"expression": "sin(x)"},
    "boundary": {"all": {"type": "periodic"}},
}
SKEW = {**TRAVELLING, "grid": {"points": [80, 20]}, "boundary": {"all": {"type": "fixed"}}}


@pytest.mark.parametrize(
    "settings, status, words",
    [
        ({**case("spectral", sweeps=9), "source": {"expression": "1e5*sin(t)"}}, 2, "the source changes in time (case.cfg:"),
        (
            {**case("exponential", end=9.0), "boundary": {**WALLS, "z_max": {"type": "constant", "value": "300+t"}}},
            2,
            "the wall z_max changes in time (case.cfg:",
        ),
        ({**TRAVELLING, "time": {"sweeps": 9, "method": "spectral"}}, 2, "along x coefficients that differ from side to side"),
        ({**TRAVELLING, "time": {"sweeps": 9, "method": "exponential"}}, 2, "raw coefficients define sweeps"),
        ({**SKEW, "time": {"sweeps": 9, "method": "spectral"}}, 2, "ill-conditioned (condition number 3.9e+11, at most 1e+04"),
        ({**SKEW, "time": {"sweeps": 9, "method": "spectral"}}, 2, 'too far from symmetric; take "euler", which makes sweeps'),
        (
            {
                **{k: v for k, v in BLOCK.items() if k not in ("material", "source", "probes")},
                "materials": [{"name": "steel", **STEEL}, {"name": "other", **STEEL, "conductivity": 5.0}],
                "body": [
                    {"material": "steel"},
                    {"material": "other", "shape": "box", "lower": [0.0, 0.0, 0.0], "upper": [0.05, 0.05, 0.05]},
                ],
                "boundary": INSULATED,
                "time": {"sweeps": 9, "method": "spectral"},
            },
            2,
            'it can do only one material on equal cells, without patches and without a file, a table or an expression of h at a wall; take time.method "euler", ',
        ),
        (
            {**BLOCK, "boundary": INSULATED, "steady": {"tolerance": 1e-8, "method": "spectral"}},
            2,
            "there is no steady state: no wall holds the mean temperature, and source and walls change it by 0.138 K/s",
        ),
    ],
)
def test_what_it_cannot_do_is_said(tmp_path, settings, status, words):
    found, said = refused(tmp_path, settings)
    assert found == status and words in said, said


def test_without_openblas_it_says_what_to_install(tmp_path):
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "libopenblas.so.0").write_text("no library")
    (tmp_path / "case.cfg").write_text(config({**case("spectral", sweeps=9), "output": {"file": "case.h5"}}))
    environment = {**os.environ, "LD_LIBRARY_PATH": str(hidden)}
    done = heatsolve(tmp_path, "run", "case.cfg", "--quiet", env=environment)
    assert done.returncode == 2
    assert 'time.method = "spectral": it needs OpenBLAS' in done.stderr and "install Debian's libopenblas0" in done.stderr
    done = heatsolve(tmp_path, "run", "case.cfg", "--quiet", '--set=time.method="euler"', env=environment)
    assert done.returncode in (0, 2)


@pytest.mark.skipif("sanitize" in HEATSOLVE, reason="a sanitizer's shadow takes addresses of its own")
def test_a_limit_on_addresses_ends_a_run_with_a_message(tmp_path):
    """OpenBLAS alone would try for ever to get its buffers."""
    settings = {**case("spectral", sweeps=9), "solver": {"threads": 1, "backend": "cpu"}}
    (tmp_path / "case.cfg").write_text(config({**settings, "output": {"file": "case.h5"}}))

    def within(limit, *arguments):
        most = (limit << 20, limit << 20)
        return heatsolve(tmp_path, *arguments, timeout=60, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, most))

    least = next(limit for limit in range(20, 400, 20) if within(limit, "version").returncode == 0)
    codes = []
    for limit in range(least, least + 340, 20):
        done = within(limit, "run", "case.cfg", "--quiet", "--overwrite")
        assert done.returncode == 0 or (done.returncode == 4 and "memory" in done.stderr), (limit, done.stderr)
        codes.append(done.returncode)
    assert codes[0] == 4 and codes[-1] == 0


def test_verify_holds_a_kernel_to_the_power_of_a_sweep(tmp_path):
    done = command(tmp_path, case("spectral", sweeps=9000), "verify", "--power", "20000", "--sweeps", "10", "--json")
    assert done.returncode == 0, done.stderr
    power = json.loads(done.stdout)["power"]
    assert power["sweeps"] == 20000 and power["passed"] and power["max_relative"] <= 1e-11


def test_a_step_of_any_length_has_its_heat_balance(tmp_path):
    done = command(tmp_path, case("exponential", end=9.0), "run")
    assert done.returncode == 0, done.stderr
    assert "method       exponential" in done.stdout
    assert re.search(r"steps        (\d+) in .*\n  time         9 s after \1 step", done.stdout)
    checked = command(tmp_path, case("exponential", end=9.0), "check").stdout
    assert re.search(r"solved       \d+ steps?, to t = 9 s", checked) and "sweeps   " not in checked
    assert "heat out" in done.stdout and "balance      closes to" in done.stdout
    with h5py.File(tmp_path / "case.h5") as f:
        stored = f["history/stored"][1:] * np.diff(f["history/time"])
        assert stored == pytest.approx(np.diff(f["history/heat"]), rel=1e-9) and f["history/change"][-1] > 1.0


def test_an_initial_field_that_is_not_finite_is_refused_as_for_sweeps(tmp_path):
    said = []
    for method in ("sweeps", "spectral"):
        initial = {"expression": "x>0.06 && y>0.05 ? sqrt(-1.0) : 300"}
        settings = {**BLOCK, "initial": initial, "steady": {"tolerance": 1e-6, "method": method}}
        done = command(tmp_path, settings, "run", "--quiet")
        assert done.returncode == 2
        said.append(done.stderr)
    assert said[0] == said[1] and "(NaN) at node (13, 11, 0)" in said[0]


@pytest.mark.parametrize("method", ["spectral", "exponential"])
@pytest.mark.parametrize("source", [{"value": 1e44}, {"expression": "1e44*(1+x)"}])
def test_a_sweep_that_float_cannot_hold_is_laid_to_the_source(tmp_path, method, source):
    """The sweep is not what its modes predict, but the message does not blame a library."""
    rod = {
        "precision": "float",
        "grid": {"points": [9], "upper": [1.0]},
        "material": {"diffusivity": 1.0},
        "initial": {"value": 300.0},
        "source": source,
        "boundary": {"all": {"type": "dirichlet", "value": 300.0}},
        "time": {"end": 1.0, "method": method},
    }
    done = command(tmp_path, rod, "run", "--quiet")
    assert done.returncode == 1 and "diverged: the temperature is " in done.stderr, done.stderr
    assert "source." in done.stderr and "more than a field in float holds" in done.stderr


def test_a_search_by_sweeps_may_jump(tmp_path):
    result = run(tmp_path, {**case("spectral"), "steady": {"tolerance": 1e-9, "check_every": 5000}})
    assert result.attributes["steady_change"] < 1e-9 and result.attributes["sweeps"] % 5000 == 0


# terms of size h spacing/k T, beside which a change in their last bits is negligible; the field is that of the solver
@pytest.mark.parametrize("h", [1e4, 1e7])
def test_a_steady_state_is_met_where_rounding_is_all_that_is_left(tmp_path, h):
    plate = {
        "grid": {"points": [41, 41], "upper": [1.0, 1.0]},
        "material": {"conductivity": 1.0, "density": 1.0, "specific_heat": 1000.0},
        "initial": {"value": 300.0},
        "source": {"value": 100.0},
        "boundary": {"all": {"type": "dirichlet", "value": 300.0}, "y_min": {"type": "robin", "h": h, "ambient": 300.0}},
    }
    fields = [run(tmp_path, {**plate, "steady": {"tolerance": 1e-9, "method": m}}).field for m in ("spectral", "multigrid")]
    assert fields[0].max() > 305.0
    assert np.abs(fields[0] - fields[1]).max() <= 1e-7 * (fields[0].max() - 300.0)


def test_a_steady_state_to_begin_with_is_one(tmp_path):
    flat = {**BLOCK, "initial": {"value": 300.0}, "boundary": INSULATED, "steady": {"tolerance": 1e-9, "method": "spectral"}}
    flat.pop("source")
    for precision in ("double", "float"):
        result = run(tmp_path, {**flat, "precision": precision})
        assert result.attributes["steady_residual"] == 0.0
        assert np.abs(result.field - 300.0).max() <= (1e-12 if precision == "double" else 1e-6) * 300.0


# Convection 1e18 times as strong or as weak as the slab's conduction leaves slow modes below the rounding of fast ones.
# The tolerance is 1e-6 of the initial 15 K; a result that rounding may put further off is refused
@pytest.mark.parametrize("points", [11, 101])
@pytest.mark.parametrize("h", [1e-16, 1e-12, 1e-8, 1e-3, 1e3, 1e12, 1e14, 1e16, 1e18])
def test_a_steady_state_under_weak_or_strong_convection_is_right_or_refused(tmp_path, h, points):
    flux = 1000.0 if h > 1.0 else 0.0
    slab = {
        "grid": {"points": [points], "upper": [1.0]},
        "material": {"conductivity": 200.0, "density": 2700.0, "specific_heat": 900.0},
        "initial": {"value": 20.0},
        "boundary": {"x_min": {"type": "robin", "h": h, "ambient": 5.0}, "x_max": {"type": "neumann", "flux": -flux}},
        "steady": {"tolerance": 1e-6, "method": "spectral"},
    }
    done = command(tmp_path, slab, "run", "--quiet")
    if done.returncode == 2:
        assert points == 101 and h >= 1e16, done.stderr
        assert "its relative error by rounding may be" in done.stderr and 'take steady.method "multigrid"' in done.stderr
        return
    assert done.returncode == 0, done.stderr
    with h5py.File(tmp_path / "case.h5") as f:
        expected = 5.0 + flux / h + flux / 200.0 * np.linspace(0.0, 1.0, points)
        assert np.abs(f["temperature"][-1] - expected).max() <= 1e-6 * 15.0


def test_what_is_in_doubt_is_refused_with_a_remedy_that_helps(tmp_path):
    """The remedy is not sweeps, which would end far from the steady state."""
    slab = {
        "grid": {"points": [101], "upper": [1.0]},
        "stencil": {"radius": 2},
        "material": {"conductivity": 200.0, "density": 2700.0, "specific_heat": 900.0},
        "initial": {"value": 20.0},
        "boundary": {"x_min": {"type": "robin", "h": 1e22, "ambient": 5.0}, "x_max": {"type": "reflective"}},
        "steady": {"tolerance": 1e-9, "method": "auto"},
    }
    done = command(tmp_path, slab, "run", "--quiet")
    assert done.returncode == 2 and "its relative error by rounding may be" in done.stderr, done.stderr
    assert 'take stencil.radius = 1 and steady.method "multigrid", or a larger tolerance' in done.stderr, done.stderr
    slab["stencil"] = {"radius": 1}
    assert command(tmp_path, slab, "run", "--quiet").returncode == 0
    with h5py.File(tmp_path / "case.h5") as f:
        assert np.abs(f["temperature"][-1] - 5.0).max() <= 1e-6


# the rates across the film are up to 1e24 times those along it
@pytest.mark.parametrize("thickness", [1e-5, 5e-7, 1e-12])
def test_a_thin_film_has_a_steady_state_along_it(tmp_path, thickness):
    walls = {"all": {"type": "reflective"}, "x_min": {"type": "dirichlet", "value": 0.0}}
    film = {
        "grid": {"points": [11, 11], "upper": [1.0, thickness]},
        "material": {"conductivity": 200.0, "density": 2700.0, "specific_heat": 900.0},
        "initial": {"value": 20.0},
        "boundary": {**walls, "x_max": {"type": "dirichlet", "value": 100.0}},
        "steady": {"tolerance": 1e-9, "method": "spectral"},
    }
    along = np.linspace(0.0, 100.0, 11)
    assert np.abs(run(tmp_path, film).field - along).max() <= 1e-11
