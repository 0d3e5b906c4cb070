"""Stretched grids: manufactured solutions of second order, conserved heat, probes, regions, resume."""

import json
import math
import resource

import h5py
import numpy as np
import pytest
from helpers import AXES, ROUNDOFF, config, orders, run
from program import heatsolve, must


def segments(parts, factor=1):
    """An axis of parts (to, cells, ratio) with `factor` times as many cells and the same overall growth."""
    rows = ", ".join(
        f"{{ to = {float(to)!r}; cells = {cells * factor}; ratio = {ratio ** (1 / factor)!r}; }}" for to, cells, ratio in parts
    )
    return f"{{ segments = ( {rows} ); }}"


def written(settings, axes, more=""):
    """A config whose grid is given by its axes."""
    grid = "grid = { " + " ".join(f"{name} = {text};" for name, text in zip(AXES, axes)) + f" {more} }};\n"
    return grid + config(settings)


def solve(directory, text, name="case", *more):
    (directory / f"{name}.cfg").write_text(text + f'output = {{ file = "{name}.h5"; }};\n')
    usual = ["--quiet", "--overwrite", "--set", "solver.backend=cpu"]
    done = heatsolve(directory, "run", f"{name}.cfg", *usual, *more, timeout=300)
    assert done.returncode == 0, done.stderr + text
    return h5py.File(directory / f"{name}.h5")


PARTS = ((0.3, 4, 0.7), (0.5, 2, 1.0), (1.0, 5, 1.3))
DIRICHLET = {"all": {"type": "dirichlet", "value": 0.0}}
# for each: dims, the solution, its source for diffusivity 1, the walls
MANUFACTURED = {
    "1D": (1, "exp(-t)*sin(pi*x)", "(pi^2-1)*exp(-t)*sin(pi*x)", DIRICHLET),
    "1D robin and flux": (  # at 0 a flux of -1 times e^-t; at 1 h (T - ambient) = 1.5 e^-t
        1,
        "exp(-t)*(1 + x - x^2/2 + x^3/6)",
        "exp(-t)*(1 - x - (1 + x - x^2/2 + x^3/6))",
        {
            "x_min": {"type": "neumann", "flux": "exp(-t)"},
            "x_max": {"type": "robin", "h": 2.0, "ambient": "exp(-t)*(1 + 1 - 1/2 + 1/6 + 1/4)"},
        },
    ),
    "2D": (2, "exp(-t)*sin(pi*x)*sin(2*pi*y)", "(5*pi^2-1)*exp(-t)*sin(pi*x)*sin(2*pi*y)", DIRICHLET),
    "2D insulated, periodic": (
        2,
        "1 + exp(-t)*cos(pi*x)*sin(2*pi*y + 1)",
        "(5*pi^2-1)*exp(-t)*cos(pi*x)*sin(2*pi*y + 1)",
        {"all": {"type": "reflective"}, "y_min": {"type": "periodic"}, "y_max": {"type": "periodic"}},
    ),
    "3D": (3, "exp(-t)*sin(pi*x)*sin(pi*y)*sin(pi*z)", "(3*pi^2-1)*exp(-t)*sin(pi*x)*sin(pi*y)*sin(pi*z)", DIRICHLET),
}


def widths(f, name, periodic, length=1.0):
    """The widths of the control volumes along an axis."""
    x = f[name][:]
    cells = np.diff(x)
    around = length - (x[-1] - x[0]) if periodic else 0.0
    return 0.5 * (np.concatenate(([around], cells)) + np.concatenate((cells, [around])))


@pytest.mark.parametrize("case", MANUFACTURED)
def test_second_order(tmp_path, case):
    dims, solution, source, walls = MANUFACTURED[case]
    factors = (1, 2, 4) if dims < 3 else (1, 2)
    errors = []
    for factor in factors:
        settings = {
            "material": {"conductivity": 1.0, "density": 1.0, "specific_heat": 1.0},
            "initial": {"expression": solution},
            "source": {"expression": source},
            "boundary": walls,
            "exact": {"expression": solution},
            # the step is proportional to the square of the cells as well
            "time": {"end": 0.05, "step": 0.05 / 320 / factor**2},
        }
        with solve(tmp_path, written(settings, [segments(PARTS, factor)] * dims)) as f:
            field, t = f["temperature"][-1], f["time"][-1]
            at = {}
            weight = np.ones(field.shape)
            for axis, name in enumerate(AXES[:dims]):
                shape = [1] * dims
                shape[dims - 1 - axis] = -1
                at[name] = f[name][:].reshape(shape)
                weight = weight * widths(f, name, walls.get(f"{name}_min", {}).get("type") == "periodic").reshape(shape)
            names = {"sin": np.sin, "cos": np.cos, "exp": np.exp, "pi": math.pi, "t": t, **at}
            error = np.abs(field - eval(solution.replace("^", "**"), {}, names))
            errors.append(error.max())
            # the program's own values
            assert abs(f["history/max_error"][-1] - error.max()) < 1e-13
            assert abs(f["history/l2_error"][-1] - math.sqrt((weight * error**2).sum() / weight.sum())) < 1e-13
            assert abs(f["history/heat"][-1] - (weight * field).sum()) < 1e-12
    # the next term is smaller by some cell widths: a twentieth on the coarsest grid
    assert all(abs(p - 2.0) < 0.1 for p in orders(errors)), (errors, orders(errors))


def test_heat_is_kept(tmp_path):
    """With insulated walls and a periodic axis heat is constant to the rounding of 1e4 sweeps."""
    settings = {
        "material": {"conductivity": 2.0, "density": 3.0, "specific_heat": 4.0},
        "initial": {"expression": "300 + 50*sin(7*x)*cos(3*y)"},
        "boundary": {"all": {"type": "reflective"}, "y_min": {"type": "periodic"}, "y_max": {"type": "periodic"}},
        "time": {"sweeps": 10000},
    }
    with solve(tmp_path, written(settings, [segments(PARTS), "[0.0, 0.1, 0.15, 0.4, 1.0]"])) as f:
        heat = f["history/heat"][:]
        field = f["temperature"][:]
    assert abs(heat[-1] - heat[0]) <= 1e4 * ROUNDOFF["double"] * heat[0]
    assert abs(np.ptp(field[-1])) < 0.5 * np.ptp(field[0])  # heat has flowed
    assert abs(heat[0] / 12.0 - 300) < 30


def test_equal_cells_give_the_bits_of_points(tmp_path):
    settings = {
        "material": {"diffusivity": 1.0},
        "initial": {"expression": "sin(3*x) + y"},
        "boundary": {"all": {"type": "clamp"}},
        "time": {"sweeps": 50},
    }
    axes = ["[0.0, 0.25, 0.5, 0.75, 1.0]", "{ from = -1.0; segments = ( { to = 1.0; cells = 4; }, { to = 3.0; cells = 4; } ); }"]
    with solve(tmp_path, written(settings, axes), "axes") as a:
        by_axes = a["temperature"][:]
    grid = {"grid": {"points": [5, 9], "lower": [0.0, -1.0], "upper": [1.0, 3.0]}}
    assert np.array_equal(run(tmp_path, {**grid, **settings}, "points").field, by_axes[-1])


def test_probes_and_regions_go_by_coordinates(tmp_path):
    settings = {
        "material": {"diffusivity": 1.0},
        "time": {"sweeps": 0},
    }
    text = written(settings, ["[0.0, 0.1, 0.3, 0.7, 1.5, 3.1]"])
    text += 'initial = { value = 1.0; regions = ( { shape = "box"; lower = 0.3; upper = 1.4; value = "x"; } ); };\n'
    text += 'probes = ( { name = "near"; at = 1.09; }, { name = "far"; at = 1.11; }, { name = "end"; at = 3.1; } );\n'
    with solve(tmp_path, text) as f:
        assert f["temperature"][0].tolist() == [1.0, 1.0, 0.3, 0.7, 1.0, 1.0]
        probes = f["probes"]
        assert [int(probes[name].attrs["node"][0]) for name in ("near", "far", "end")] == [3, 4, 5]
        assert [float(probes[name].attrs["node_at"][0]) for name in ("near", "far", "end")] == [0.7, 1.5, 3.1]
        assert float(probes["near"][0]) == 0.7
    listed = json.loads(must(tmp_path, "check", "case.cfg", "--json"))["probes"]
    assert listed == [
        {"name": "near", "at": [1.09], "node_at": [0.7]},
        {"name": "far", "at": [1.11], "node_at": [1.5]},
        {"name": "end", "at": [3.1], "node_at": [3.1]},
    ]
    told = must(tmp_path, "check", "case.cfg")
    assert "near at [1.09] m is read at the node at [0.7]\n" in told and "far at " in told and "end at " not in told


def test_resume_wants_the_same_coordinates(tmp_path):
    settings = {
        "material": {"diffusivity": 1.0},
        "initial": {"expression": "sin(pi*x)"},
        "time": {"end": 0.02, "step": 1e-4},
    }
    text = written(settings, [segments(PARTS)])
    with solve(tmp_path, text, "whole") as f:
        whole = f["temperature"][-1]
    solve(tmp_path, text, "case", "--set", "time.end=0.01").close()

    def resume(*more):
        return heatsolve(tmp_path, "run", "case.cfg", "--quiet", "--resume", "--set", "solver.backend=cpu", *more)

    other = resume("--set", "grid.x.segments[2].ratio=1.31")
    assert other.returncode != 0 and "grid.x.segments[2].ratio is 1.31" in other.stderr, other.stderr
    same = resume()
    assert same.returncode == 0, same.stderr
    with h5py.File(tmp_path / "case.h5") as f:
        assert np.array_equal(f["temperature"][-1], whole)


def test_an_override_of_a_counted_axis_is_refused(tmp_path):
    settings = {"grid": {"points": [9, 9]}, "material": {"diffusivity": 1.0}, "initial": {"value": 1.0}, "time": {"sweeps": 1}}
    (tmp_path / "case.cfg").write_text(config(settings))

    def check(*more):
        return heatsolve(tmp_path, "check", "case.cfg", "--set", "grid.x=[0, 1, 3]", *more)

    refused = check()
    assert refused.returncode == 2 and "--set: grid.x: the config counts the nodes of this axis in grid.points" in refused.stderr
    told = check("--set", "grid.points=[9]")
    must(tmp_path, "run", "case.cfg", "--quiet", "--set", "grid.x=[0, 1, 3, 4.5, 9]", "--set", "grid.points=[9]")
    with h5py.File(tmp_path / "case.h5") as f:
        assert f["set"].attrs["grid.x"].tolist() == [0.0, 1.0, 3.0, 4.5, 9.0]
    assert told.returncode == 0, told.stderr
    assert "x from 0 to 3 m, cells of 1 to 2 m" in told.stdout
    assert "y from 0 to 8 m, spacing 1 m" in told.stdout


def test_a_stencil_of_its_own_is_refused(tmp_path):
    text = written({"initial": {"value": 1.0}, "time": {"sweeps": 1}}, ["[0.0, 1.0, 3.0]"])
    for more, key in (("stencil = { c0 = 0.5; c1 = 0.25; c2 = 0.25; };\n", "stencil"),
                      ("stencil = { radius = 2; };\nmaterial = { diffusivity = 1.0; };\n", "stencil.radius")):
        (tmp_path / "case.cfg").write_text(text.replace("3.0", "3.0, 4.0, 5.0, 6.5") + more)
        done = heatsolve(tmp_path, "check", "case.cfg")
        assert done.returncode == 2 and f": {key}" in done.stderr, done.stderr


def free_bytes():
    with open("/proc/meminfo") as f:
        return next(1024 * int(line.split()[1]) for line in f if line.startswith("MemAvailable"))


def test_coordinates_beyond_the_memory_are_refused_at_once(tmp_path):
    """Where the field alone would fit; the limit is there so that a program that tries harms nobody."""
    cells = int(0.9 * free_bytes() / 8 / 3)
    if cells > 2147483647:
        pytest.skip("no axis can have so many cells")
    (tmp_path / "case.cfg").write_text(
        f"grid = {{ x = {{ segments = ( {{ to = 1.0; cells = {cells}; ratio = 1.000001; }} ); }}; points = [3]; }};\n"
        "material = { diffusivity = 1.0; }; initial = { value = 0.0; }; time = { end = 1.0; };"
    )
    most = 6 << 30
    done = heatsolve(
        tmp_path, "check", "case.cfg", timeout=20, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most))
    )
    assert done.returncode == 4
    assert "case.cfg:1: grid.points: " in done.stderr and "need at least" in done.stderr and "that fits is" in done.stderr
