"""steady.method = "multigrid" against exact solutions, a sparse direct solver, sweeps; and how many iterations it
takes.

With a tolerance of 1e-12 the solver's own error is negligible: what is left is the grid's error, or rounding.
"""

import re

import h5py
import numpy as np
import pytest
from helpers import BACKEND, assert_order, command, refused, run, unit_grid
from program import heatsolve, must
from random_body import Body
from steady_body import ROOT, Case
from test_body_steady import Wall
from test_implicit import sheet
from test_iso10211 import CASES, beyond


def solve(directory, settings, tolerance=1e-12, **more):
    return run(directory, {**settings, "steady": {"tolerance": tolerance, "method": "multigrid"}, **more})


def iterations(result):
    return int(result.attributes["steady_iterations"])


def ended(directory, settings):
    """The exit code of a run that fails once it computes, and what it says."""
    done = command(directory, settings, "run", "--quiet")
    return done.returncode, done.stderr


# ---- exact solutions -----------------------------------------------------------------------------

KINDS = {
    "dirichlet": ({"type": "dirichlet", "value": 0.0}, "sin(pi*%s)", 1.0),
    "reflective": ({"type": "reflective"}, "cos(pi*%s)", 1.0),
    "clamp": ({"type": "clamp"}, "cos(pi*%s)", 1.0),
    "constant": ({"type": "constant", "value": 0.0}, "sin(pi*%s)", 1.0),
    "periodic": ({"type": "periodic"}, "sin(2*pi*%s)", 4.0),
}


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_a_wave_is_of_order_2_with_every_kind_of_wall(tmp_path, kind, dims):
    """diffusivity * laplace(T) = -source. If nothing determines the mean, it stays that of the initial field."""
    wall, wave, squares = KINDS[kind]
    exact = "*".join(wave % axis for axis in "xyz"[:dims])
    errors = []
    for cells in (9, 18, 36):
        boundary = {"all": wall}
        faces = {f"{axis}_{end}": wall for axis in "xyz"[:dims] for end in ("min", "max")}
        settings = {
            "grid": unit_grid(cells, faces, dims),
            "material": {"diffusivity": 0.7},
            "boundary": boundary,
            "source": {"expression": f"{0.7 * squares * dims!r}*pi^2*{exact}"},
            "initial": {"value": 0.0},
            "exact": {"expression": exact},
        }
        errors.append(solve(tmp_path, settings, 1e-11).error())
    assert_order(errors, 1.85, 2.1, f"{kind} {dims}D")


@pytest.mark.parametrize("precision", ["double", "float"])
def test_walls_by_flux_and_convection(tmp_path, precision):
    """-k T'' = 0 gives a straight line on any grid: flux q in at x = 0, h at x = 1; numbers or expressions."""
    settings = {
        "precision": precision,
        "grid": {"points": [17, 12], "upper": [1.0, 0.3]},
        "material": {"conductivity": 2.0, "density": 3.0, "specific_heat": 5.0},
        "boundary": {
            "all": {"type": "reflective"},
            "x_min": {"type": "neumann", "flux": -6.0},
            "x_max": {"type": "robin", "h": 4.0, "ambient": "10+0*y"},
        },
        "initial": {"value": 20.0},
    }
    result = solve(tmp_path, settings)
    exact = 10.0 + 6.0 / 4.0 + 6.0 / 2.0 * (1.0 - result.coordinates["x"])
    # in float: its own rounding, and that of the sweep that checks the answer
    bound = {"double": 1e-10, "float": 4 * 16.0 * 2.0**-24}[precision]
    assert np.abs(result.field - exact).max() <= bound


@pytest.mark.parametrize("dims, axis", [(1, 0), (2, 1), (3, 0), (3, 2)])
@pytest.mark.parametrize("contrast", [10.0, 1e3, 1e5])
def test_a_wall_of_layers_is_exact(tmp_path, contrast, dims, axis):
    """Along one axis the network is exact: to 1e-10 of the 2 K between the baths."""
    layers = [(0.31, 1.0), (0.217, contrast), (0.293, 1 / contrast), (0.18, 1.0)]
    wall = Wall(layers, [0, 0.1, 0], [(8, 1.0), (2, 3.0)])
    result = solve(tmp_path, wall.settings(57, dims, axis), initial={"value": 0.0})
    assert np.abs(result.field - wall.exact(result.coordinates["xyz"[axis]])).max() <= 2e-10


# ---- against other ways --------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(60))
def test_a_random_body_is_what_a_direct_solver_says(tmp_path, seed):
    """Shapes, labels, anisotropy, contacts, perfusion, stretched and periodic axes, walls, patches; the matrix is
    assembled independently from the definition."""
    body = Body(seed, tmp_path, steady='tolerance = 1e-12; method = "multigrid";')
    done = heatsolve(tmp_path, "run", "case.cfg", "--quiet", "--set", f"solver.backend={BACKEND}")
    (tmp_path / "initial.cfg").write_text((tmp_path / "case.cfg").read_text().replace(
        'steady = { tolerance = 1e-12; method = "multigrid"; };', "time = { sweeps = 1; };").replace("out.h5", "start.h5"))  # fmt: skip
    must(tmp_path, "run", "initial.cfg", "--quiet")
    with h5py.File(tmp_path / "start.h5") as f:
        start = f["temperature"][0]
    exact = body.steady_state(start)
    if exact is None:
        assert done.returncode == 2 and "there is no steady state" in done.stderr
        return
    assert done.returncode == 0, done.stderr
    with h5py.File(tmp_path / "out.h5") as f:
        field = f["temperature"][-1]
    # both solvers round; the matrices' condition numbers are some 1e4
    assert np.abs(field - exact).max() <= 1e-10 * max(1.0, np.abs(exact).max())


def blocks(directory, points, contrast, seed=1, each=4):
    """Blocks of 4^3 nodes with one conductivity each, random in the range of the contrast, uniform in the logarithm."""
    random = np.random.default_rng(seed)
    coarse = np.exp(random.uniform(0.0, np.log(contrast), [(points + each - 1) // each] * 3))
    k = np.kron(coarse, np.ones([each] * 3))[:points, :points, :points]
    np.save(directory / "k.npy", k)
    np.save(directory / "c.npy", np.ones_like(k))
    return {
        "grid": {"points": [points] * 3, "upper": [1.0] * 3},
        "measured": {"conductivity": {"file": "k.npy"}, "capacity": {"file": "c.npy"}},
        "boundary": {"all": {"type": "dirichlet", "value": 0.0}},
        "source": {"value": 1.0},
        "initial": {"value": 0.0},
    }


def test_sweeps_leave_its_answer_where_it_is(tmp_path):
    """On a grid with several coarse levels: a sweep changes the answer only by rounding."""
    settings = blocks(tmp_path, 21, 1e3)
    result = solve(tmp_path, settings)
    np.save(tmp_path / "start.npy", result.field)
    after = run(tmp_path, {**settings, "initial": {"file": "start.npy"}, "time": {"sweeps": 5000}})
    assert np.abs(after.field - result.field).max() <= 1e-11 * result.field.max()


@pytest.mark.parametrize("method", ["multigrid", "spectral"])
def test_a_step_of_any_length_leaves_the_answer_where_it_is(tmp_path, method):
    """The heat through walls comes from a sweep with a stable step; only `exponential` itself may take 1e12 s."""
    plate = {
        "grid": {"points": [11, 11], "upper": [1.0, 1.0]},
        "material": {"conductivity": 1.0, "density": 1.0, "specific_heat": 1.0},
        "initial": {"value": 5.0},
        "source": {"value": 10.0},
        "boundary": {"all": {"type": "dirichlet", "value": 0.0}},
        "steady": {"tolerance": 1e-9, "method": method},
    }
    long = run(tmp_path, {**plate, "time": {"method": "exponential", "step": 1e12}}, "long")
    assert np.abs(long.field - run(tmp_path, plate, "short").field).max() <= 1e-14


@pytest.mark.parametrize("steady", ["multigrid", "spectral", "auto"])
@pytest.mark.parametrize("time", [{"method": "implicit", "tolerance": 0.1}, {"method": "rkl2"}, {"method": "exponential"}], ids=str)
def test_how_time_would_go_does_not_matter(tmp_path, time, steady):
    """A config whose steady state is wanted may keep its time.method."""
    plate = {
        "grid": {"points": [11, 11], "upper": [1.0, 1.0]},
        "material": {"diffusivity": 1.0},
        "initial": {"value": 5.0},
        "source": {"value": 10.0},
        "boundary": {"all": {"type": "dirichlet", "value": 0.0}},
        "steady": {"tolerance": 1e-9, "method": steady},
    }
    result = run(tmp_path, {**plate, "time": time}, "timed")
    assert np.array_equal(result.field, run(tmp_path, plate, "plain").field)
    assert "steps" not in must(tmp_path, "run", "timed.cfg", "--overwrite")


# ---- what nothing holds --------------------------------------------------------------------------


@pytest.mark.parametrize("body", [False, True])
def test_insulated_and_balanced_it_keeps_its_heat(tmp_path, body):
    """cos is also a mode of the grid; its eigenvalue of the second differences is (2 sin(pi h/2)/h)^2."""
    n = 41
    settings = {
        "grid": {"points": [n, 30], "upper": [1.0, 0.5]},
        "boundary": {"all": {"type": "reflective"}},
        "initial": {"expression": "7 + x*y"},
        "source": {"expression": "cos(pi*x)"},
    }
    numbers = {"conductivity": 2.0, "density": 3.0, "specific_heat": 5.0}
    if body:
        settings.update(materials=[{"name": "a", **numbers}, {"name": "b", **numbers}], body=[
            {"material": "a"}, {"material": "b", "shape": "box", "lower": [0.2, 0.1], "upper": [0.7, 0.3]}])  # fmt: skip
    else:
        settings["material"] = numbers
    result = solve(tmp_path, settings)
    h = 1.0 / (n - 1)
    exact = 7.125 + np.cos(np.pi * result.coordinates["x"]) / (2.0 * (2.0 * np.sin(np.pi * h / 2) / h) ** 2)
    assert np.abs(result.field - exact).max() <= 1e-11


@pytest.mark.parametrize("source", [{"value": -0.3}, {"expression": "-0.3 - 1e-12*cos(pi*x)"}], ids=["number", "expression"])
def test_sources_that_cancel_but_for_rounding_balance(tmp_path, source):
    """Those of the materials and the problem's own: hardly anything is left that flows in at a node."""
    numbers = {"conductivity": 2.0, "density": 3.0, "specific_heat": 5.0, "source": 0.3}
    settings = {
        "grid": {"points": [13, 11], "upper": [1.0, 0.7]},
        "materials": [{"name": "a", **numbers}, {"name": "b", **numbers, "conductivity": 1.0}],
        "body": [{"material": "a"}, {"material": "b", "shape": "box", "lower": [0.21, 0.1], "upper": [0.68, 0.33]}],
        "boundary": {"all": {"type": "reflective"}},
        "source": source,
        "initial": {"value": 300.0},
    }
    assert np.abs(solve(tmp_path, settings).field - 300.0).max() <= 1e-6


def test_what_does_not_balance_has_no_steady_state(tmp_path):
    settings = {
        "grid": {"points": [9, 9], "upper": [1.0, 1.0]},
        "material": {"conductivity": 2.0, "density": 3.0, "specific_heat": 5.0},
        "boundary": {"all": {"type": "reflective"}, "x_max": {"type": "neumann", "flux": -6.0}},
        "initial": {"value": 0.0},
        "steady": {"tolerance": 1e-9, "method": "multigrid"},
    }
    status, told = refused(tmp_path, settings)
    assert status == 2 and "bring 6 W/m;" in told and "hold the temperature of a wall" in told


@pytest.mark.parametrize(
    "change, told",
    [
        ({"boundary": {"all": {"type": "dirichlet", "value": "sin(t)"}}}, "change with time"),
        ({"source": {"expression": "x*t"}}, "change with time"),
        ({"stencil": {"radius": 2}}, 'it can do stencil.radius = 1, not 2; take that, or "spectral" or "sweeps"'),
        ({"stencil": {"c0": 0.6, "c1": 0.1, "c2": 0.1, "c3": 0.1, "c4": 0.1}, "material": {}}, 'take "spectral" or "sweeps"'),
    ],
)
def test_what_it_cannot_do_it_says(tmp_path, change, told):
    settings = {
        "grid": {"points": [9, 9], "upper": [1.0, 1.0]},
        "material": {"diffusivity": 1.0},
        "boundary": {"all": {"type": "dirichlet", "value": 0.0}},
        "initial": {"value": 1.0},
        "steady": {"tolerance": 1e-9, "method": "multigrid"},
        **change,
    }
    status, said = refused(tmp_path, settings)
    assert status == 2 and told in said, said


@pytest.mark.parametrize("method", ["multigrid", "spectral"])
def test_there_is_nothing_to_resume(tmp_path, method):
    """A residual in the file would be that of another initial guess, not of the snapshot that is there."""
    settings = {
        "grid": {"points": [9, 9], "upper": [1.0, 1.0]},
        "material": {"diffusivity": 1.0},
        "boundary": {"all": {"type": "dirichlet", "value": 0.0}},
        "source": {"value": 1.0},
        "initial": {"value": 0.0},
        "steady": {"tolerance": 1e-3, "method": method},
    }
    run(tmp_path, settings)
    told = must(tmp_path, "check", "case.cfg")
    assert re.search("output       1 snapshot, about .*, in case.h5", told), told
    before = (tmp_path / "case.h5").read_bytes()
    again = ["run", "case.cfg", "--quiet", "--set", "steady.tolerance=1e-10"]
    done = heatsolve(tmp_path, *again)
    assert done.returncode == 3 and "t = 0 s; --overwrite replaces it" in done.stderr, done.stderr
    done = heatsolve(tmp_path, *again, "--resume")
    assert done.returncode == 2 and (tmp_path / "case.h5").read_bytes() == before
    told = f'steady.method = "{method}": it does not step through time, so there is nothing to resume; start over with --overwrite instead of'
    assert told in done.stderr, done.stderr
    must(tmp_path, *again, "--overwrite")


def test_a_steady_state_takes_no_iteration(tmp_path):
    settings = {
        "grid": {"points": [9, 9], "upper": [1.0, 1.0]},
        "material": {"diffusivity": 1.0},
        "boundary": {"all": {"type": "dirichlet", "value": 0.1}},
        "initial": {"value": 0.1},
    }
    result = solve(tmp_path, settings)
    assert iterations(result) == 0 and (result.field == 0.1).all()


@pytest.mark.parametrize("method", ["multigrid", "spectral", "auto"])
def test_a_solution_that_changes_with_t_is_not_that_of_a_steady_state(tmp_path, method):
    """It was taken at t = 0, and the error of a steady state without error was 1."""
    settings = {
        "grid": {"points": [11], "upper": [1.0]},
        "material": {"diffusivity": 1.0},
        "boundary": {"all": {"type": "dirichlet", "value": 0.0}},
        "initial": {"expression": "sin(pi*x)"},
        "exact": {"expression": "sin(pi*x)*exp(-pi^2*t)"},
        "steady": {"tolerance": 1e-9, "method": method},
    }
    found = "spectral" if method == "spectral" else "multigrid"
    code, said = refused(tmp_path, settings)
    assert code == 2
    assert f'exact.expression = "sin(pi*x)*exp(-pi^2*t)": changes with t, and the steady state that "{found}" finds has no time;' in said


@pytest.mark.parametrize("nodes", [9, 41, 300])
@pytest.mark.parametrize("guess", [0.0, 20.0])
def test_walls_of_one_temperature_make_all_of_it_so(tmp_path, guess, nodes):
    """No residual is left at all, and no heat flows: the error is held to 0."""
    result = solve(
        tmp_path,
        {
            "grid": {"points": [nodes], "upper": [1.0]},
            "material": {"diffusivity": 1.0},
            "initial": {"value": guess},
            "boundary": {"all": {"type": "dirichlet", "value": 100.0}},
        },
    )
    np.testing.assert_allclose(result.field, 100.0, rtol=1e-13)


@pytest.mark.parametrize("points", [[33, 33], [17, 20, 13]])
@pytest.mark.parametrize("guess", ["1.0", "1e10*x*y", "300 + sin(40*x)"])
def test_a_steady_state_of_0_is_found(tmp_path, points, guess):
    """No error is small beside it: it is held to the guess's rounding, times the tolerance. Iterations went on until
    numbers became too small, and the answer, 1e-158, was a failure."""
    result = solve(
        tmp_path,
        {
            "grid": {"points": points, "upper": [1.0] * len(points)},
            "material": {"diffusivity": 1.0},
            "initial": {"expression": guess},
            "boundary": {"all": {"type": "dirichlet", "value": 0.0}},
        },
    )
    largest = 1e10 if "e10" in guess else 301.0
    assert abs(result.field).max() <= 1e-12 * 2.3e-16 * largest * max(points)
    assert iterations(result) <= 30


def test_the_chip_gives_off_what_it_makes(tmp_path):
    """60 W leave through 16 cm^2 of the sink at 900 W/(m^2 K)."""
    must(tmp_path, "run", ROOT / "configs" / "chip-steady.cfg", "--quiet", "--set", f"solver.backend={BACKEND}")
    with h5py.File(tmp_path / "out" / "chip-steady.h5") as f:
        face = f["temperature"][-1][-1]
        flux = {wall: float(f["history/flux"][wall][-1]) for wall in f["history/flux"]}
    weight = np.r_[0.5, np.ones(79), 0.5] / 80
    # the tolerance is for the rates of change, the largest of which are in the die
    assert weight @ face @ weight == pytest.approx(25 + 60 / (900 * 0.0016), abs=1e-8)
    assert [flux[f"z_min_{n}"] for n in (1, 2, 3)] == pytest.approx([-20.0] * 3, rel=1e-12)
    assert flux["z_max"] == pytest.approx(60.0, rel=1e-9)


@pytest.mark.parametrize("name", ["case1", "case2", "case3", "case4"])
def test_iso_10211_by_multigrid(tmp_path, name):
    """The standard's temperatures and flows, as test_iso10211.py tests them with sweeps."""
    text = (ROOT / "configs" / "iso10211" / f"{name}.cfg").read_text()
    time, steady = (re.search(rf"^{key} = .*;$", text, re.M).group(0) for key in ("time", "steady"))
    solved = 'steady = { tolerance = 1e-9; method = "multigrid"; };'
    assert beyond(CASES[name](Case(tmp_path, f"iso10211/{name}", [(time, ""), (steady, solved)]))) == {}


# ---- how many iterations -------------------------------------------------------------------------


def cube(points, **more):
    return {
        "grid": {"points": points, "upper": [1.0, 1.0, 1.0]},
        "material": {"diffusivity": 1.0},
        "boundary": {"all": {"type": "dirichlet", "value": 0.0}},
        "source": {"value": 1.0},
        "initial": {"value": 0.0},
        **more,
    }


def test_iterations_hardly_depend_on_the_grid(tmp_path):
    """With 66 nodes the last cell of the coarsest grid is a thirty-second as wide as the others."""
    counts = [iterations(solve(tmp_path, cube([n] * 3), 1e-10)) for n in (33, 48, 65, 66, 129)]
    assert max(counts) <= min(counts) + 2 and max(counts) <= 10, counts


@pytest.mark.parametrize("h", [0.1, 1.0, 10.0, 100.0])
def test_nor_on_how_walls_convect(tmp_path, h):
    material = {"conductivity": 1.0, "density": 1.0, "specific_heat": 1.0}
    boundary = {"all": {"type": "robin", "h": h, "ambient": 1.0}}
    assert iterations(solve(tmp_path, cube([50] * 3, material=material, boundary=boundary), 1e-10)) <= 11


@pytest.mark.parametrize("points", [[97, 97, 5], [200, 7, 31], [33, 65, 129]])
def test_thin_bodies_and_flat_cells_take_no_more(tmp_path, points):
    assert iterations(solve(tmp_path, cube(points), 1e-10)) <= 10


# widths of the cells of an axis of n nodes, before they are scaled to 1 m in all
STRETCHED = {
    "even": lambda n: np.ones(n - 1),
    "to the middle, 1 : 20": lambda n: 20.0 ** -np.abs(np.linspace(-1.0, 1.0, n - 1)),
    "to the middle, 1 : 1000": lambda n: 1000.0 ** -np.abs(np.linspace(-1.0, 1.0, n - 1)),
    "to one end, 1 : 250": lambda n: 250.0 ** np.linspace(0.0, 1.0, n - 1),
    "three parts": lambda n: np.repeat([1.0, 10.0, 0.5], [(n - 1) // 3, n - 1 - (n - 1) // 3 * 2, (n - 1) // 3]),
    "a film, 1 : 1000": lambda n: np.where(abs(np.arange(n - 1) - n // 2 + 0.5) < 1, 1e-3, 1.0),
    "a dense part, 1 : 30": lambda n: np.where(abs(np.arange(n - 1) - n // 2 + 0.5) < 3, 1.0, 30.0),
    "by chance, 1 : 10": lambda n: 10.0 ** np.random.default_rng(n).random(n - 1),
}


@pytest.mark.parametrize(
    "along",
    [
        ("to the middle, 1 : 20", "even", "even"),
        ("to the middle, 1 : 20", "to the middle, 1 : 20", "to the middle, 1 : 20"),
        ("to the middle, 1 : 1000", "to one end, 1 : 250", "to the middle, 1 : 1000"),
        ("to one end, 1 : 250", "even", "to the middle, 1 : 20"),
        ("three parts", "three parts", "even"),
        ("by chance, 1 : 10", "by chance, 1 : 10", "by chance, 1 : 10"),
        ("a film, 1 : 1000", "even", "even"),
        ("even", "a film, 1 : 1000", "a film, 1 : 1000"),
        ("even", "even", "a dense part, 1 : 30"),
    ],
)
def test_nor_on_how_the_grid_is_stretched(tmp_path, along):
    """If all axes were coarsened alike it would take 17 to 54 iterations on 33^3 and 19 to 105 on 65^3."""
    counts = []
    for n in (33, 65):
        cells = [STRETCHED[name](n) for name in along]
        places = [np.concatenate(([0.0], np.cumsum(c) / c.sum())) for c in cells]
        settings = cube([0], grid={axis: x.tolist() for axis, x in zip("xyz", places)})
        counts.append(iterations(solve(tmp_path, settings, 1e-10)))
    assert max(counts) <= 13 and counts[1] <= counts[0] + 2, counts


@pytest.mark.parametrize("place", [0, 8, 17])
@pytest.mark.parametrize("film", [1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize("guess", [0.0, 300.0])
def test_nor_on_where_a_film_is(tmp_path, place, film, held, guess):
    """Two thin cells among 17 of 16 mm; heat flows along them, and out across them. If nothing holds the mean, the rounding
    of the sums is all that is left in the end: the film's edges are up to 3e6 times as strong as the others."""
    cells = np.insert(np.full(17, 0.27 / 17), place, [film / 2] * 2)
    size = cells.sum()
    boundary = {
        "all": {"type": "reflective"},
        "x_min": {"type": "dirichlet", "value": 310.0} if held else {"type": "neumann", "flux": -123.4},
        "y_max": {"type": "neumann", "flux": float(123.4 * size / 0.1)},
    }
    settings = {
        "grid": {"x": np.linspace(0.0, 0.1, 31).tolist(), "y": np.concatenate(([0.0], np.cumsum(cells))).tolist()},
        "material": {"conductivity": 1.0, "density": 1e3, "specific_heat": 1e3},
        "boundary": boundary,
        "initial": {"value": guess},
    }
    result = solve(tmp_path, settings, 1e-9)
    assert iterations(result) <= 16
    balance = result.history["flux/x_min"][-1] + result.history["flux/y_max"][-1]
    assert abs(balance) < 1e-6 * 123.4 * size


def test_layers_of_1_to_13000(tmp_path):
    """Conductivities 1 : 0.01 : 130, with one wall held and one that convects."""
    names, ks = ["a", "b", "c"], [1.0, 0.01, 130.0]
    body = [{"material": n, "shape": "box", "lower": [0.0, 0.0, i / 3], "upper": [1.0, 1.0, (i + 1) / 3]}
            for i, n in enumerate(names)]  # fmt: skip
    settings = {
        "grid": {"points": [49] * 3, "upper": [1.0] * 3},
        "materials": [{"name": n, "conductivity": k, "density": 1.0, "specific_heat": 1.0} for n, k in zip(names, ks)],
        "body": body,
        "boundary": {
            "all": {"type": "reflective"},
            "z_min": {"type": "dirichlet", "value": "sin(3*x)*y"},
            "z_max": {"type": "robin", "h": 5.0, "ambient": 2.0},
        },
        "initial": {"value": 0.0},
    }
    assert iterations(solve(tmp_path, settings, 1e-10)) <= 10


@pytest.mark.parametrize("contrast, most", [(10.0, 13), (1e3, 21), (1e5, 38)])
def test_blocks_of_random_conductivity(tmp_path, contrast, most):
    assert iterations(solve(tmp_path, blocks(tmp_path, 48, contrast), 1e-10)) <= most


@pytest.mark.parametrize("film", [1e-6, 1e-8, 1e-9])
def test_roundings_of_a_film_hide_nothing(tmp_path, film):
    """The film's rates of change are roundings, but larger than all initial rates of the sheet's nodes."""
    assert abs(solve(tmp_path, sheet(film), 1e-9).field - 353.15).max() < 1e-6


def test_nor_those_of_strong_convection(tmp_path):
    settings = {
        "grid": {"points": [11], "upper": [1.0]},
        "material": {"conductivity": 200.0, "density": 2700.0, "specific_heat": 900.0},
        "initial": {"value": 5.0},
        "boundary": {
            "x_min": {"type": "robin", "h": 1e20, "ambient": 5.0},
            "x_max": {"type": "neumann", "flux": -1000.0},
        },
    }
    assert abs(solve(tmp_path, settings, 1e-9).field - np.linspace(5.0, 10.0, 11)).max() < 1e-8


@pytest.mark.parametrize("film, h, ambient", [(2e-8, 0.01, 301.0), (2e-9, 0.1, 301.0), (2e-9, 0.01, 310.0)])
def test_nor_those_of_a_film_at_a_wall_that_convects_weakly(tmp_path, film, h, ambient):
    """At an even guess the wall's heat, 0.01 to 0.1 W/m^2, is less than the rounding of the film's edges times 300 K, but
    each of the nodes has to take the ambient's temperature all the same."""
    settings = {
        "grid": {"x": [0.0, film / 2] + (film + 0.01 * np.arange(51)).tolist()},
        "material": {"conductivity": 400.0, "density": 8900.0, "specific_heat": 385.0},
        "initial": {"value": 300.0},
        "boundary": {"x_min": {"type": "robin", "h": h, "ambient": ambient}, "x_max": {"type": "reflective"}},
    }
    assert abs(solve(tmp_path, settings, 1e-9).field - ambient).max() < 1e-6


def weakly_held(h):
    """A rod of k = 1 and ten cells: h / 10 of what an edge conducts."""
    return {
        "grid": {"points": [11], "upper": [1.0]},
        "material": {"conductivity": 1.0, "density": 1e3, "specific_heat": 1e3},
        "initial": {"value": 2.0},
        "boundary": {"x_min": {"type": "robin", "h": h, "ambient": 1.0}, "x_max": {"type": "reflective"}},
    }


@pytest.mark.parametrize("h", [1e-8, 1e-10, 1e-12])
def test_weak_convection_alone_holds_the_temperature(tmp_path, h):
    """The stencil's sink had lost the digits of h below 1e-16: at 1e-12 the rod was 8e-4 of the jump off."""
    assert abs(solve(tmp_path, weakly_held(h), 1e-9).field - 1.0).max() < 1e-9


@pytest.mark.parametrize("diffusivity", [1e10, 1.0, 1e-10, 1e-15, 1e-20])
def test_the_unit_of_conductances_is_no_matter(tmp_path, diffusivity):
    """Rates of change are roundings beside 1e12 K in cells this flat, but the field is not level. With less than 1e-10 m^2/s
    it was taken for the steady state."""
    settings = {
        "grid": {"points": [4, 3], "upper": [1.0, 1e-3]},
        "material": {"diffusivity": diffusivity},
        "initial": {"expression": "1e12 + 100*x"},
        "boundary": {"all": {"type": "periodic"}},
    }
    result = solve(tmp_path, settings, 1e-9)
    assert abs(result.field - 1e12 - 37.5).max() < 1e-3 and 0 < iterations(result) < 10


def two_halves(**more):
    """The rod as two materials that touch halfway between nodes."""
    rod = {"name": "rod", "conductivity": 1.0, "density": 1e3, "specific_heat": 1e3}
    case = {key: value for key, value in weakly_held(1e-16).items() if key != "material"}
    body = [{"material": "rod"}, {"material": "end", "shape": "box", "lower": [0.55], "upper": [1.0]}]
    return {**case, "materials": [rod, {**rod, "name": "end", "conductivity": 2.0}], "body": body, **more}


HALVES_HELD = {"x_min": {"type": "dirichlet", "value": 1.0}, "x_max": {"type": "reflective"}}


@pytest.mark.parametrize(
    "settings",
    [
        weakly_held(1e-16),
        weakly_held(1e-20),
        two_halves(),
        two_halves(boundary={"all": {"type": "periodic"}}, contacts=[{"between": ["rod", "end"], "resistance": 1e20}]),
        two_halves(boundary=HALVES_HELD, contacts=[{"between": ["rod", "end"], "resistance": 1e20}]),
        two_halves(boundary=HALVES_HELD, contacts=[{"between": ["rod", "end"], "resistance": 1e30}]),
    ],
)
def test_a_piece_that_is_bound_by_less_than_rounding_is_refused(tmp_path, settings):
    """Its temperature was the guess's, or whatever rounding made of it (1e9 K), with exit code 0."""
    case = {**settings, "steady": {"tolerance": 1e-9, "method": "multigrid"}}
    done = command(tmp_path, case, "run", "--quiet")
    assert done.returncode == 2 and "of what its own edges conduct" in done.stderr, done.stderr


@pytest.mark.parametrize("resistance", [0.0, 1e-30, 1e12, 1e30])
def test_pieces_that_are_each_held_may_have_any_contact(tmp_path, resistance):
    ends = {"x_min": {"type": "dirichlet", "value": 1.0}, "x_max": {"type": "dirichlet", "value": 4.0}}
    contacts = [{"between": ["rod", "end"], "resistance": resistance}]
    flux = 3.0 / (0.55 + resistance + 0.45 / 2.0)
    x = np.linspace(0.0, 1.0, 11)
    expected = np.where(x < 0.55, 1.0 + flux * x, 4.0 - flux * (1.0 - x) / 2.0)
    result = solve(tmp_path, two_halves(boundary=ends, contacts=contacts), 1e-9)
    np.testing.assert_allclose(result.field, expected, rtol=1e-9)


@pytest.mark.parametrize("tolerance", [1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize("points", [[31, 18], [31, 18, 10]])
def test_its_answer_is_a_good_guess(tmp_path, tolerance, points):
    """Rates of change are then roundings, and a thousandth of them cannot be reached. Nothing holds the mean."""
    settings = {
        "grid": {"points": points, "upper": [0.1, 0.27, 0.1][: len(points)]},
        "material": {"conductivity": 1.0, "density": 1e3, "specific_heat": 1e3},
        "boundary": {
            "all": {"type": "reflective"},
            "x_min": {"type": "neumann", "flux": -123.4},
            "y_max": {"type": "neumann", "flux": 123.4 * 0.27 / 0.1},
        },
        "initial": {"value": 300.0},
    }
    result = solve(tmp_path, settings, 1e-9)
    np.save(tmp_path / "guess.npy", result.field)
    again = solve(tmp_path, {**settings, "initial": {"file": "guess.npy"}}, tolerance)
    assert iterations(again) <= 12 and abs(again.field - result.field).max() <= 1e-8 * np.ptp(result.field)


@pytest.mark.parametrize("tolerance", [1e-2, 1e-4, 1e-6, 1e-9])
@pytest.mark.parametrize("guess", [300.0, 1000.0])
def test_a_guess_that_jumps_in_a_film_loosens_nothing(tmp_path, tolerance, guess):
    """A rod of 1 m, heated at one end, which convects at the other: 300 + q/h + q/k (1 - x).

    An even error e has the square h e^2 in the norm of A, and the solution q^2/k. A jump of 700 K within 1 nm has 1e14
    times as much. z.r, of a V-cycle that leaves less than half of any error, is at least half of what it stands for."""
    q, h, k = 100.0, 0.1, 100.0
    segments = [{"to": 1e-8, "cells": 10}, {"to": 1.0, "cells": 80, "ratio": 1.3}]
    settings = {
        "precision": "double",
        "grid": {"x": {"segments": segments}},
        "materials": [{"name": "m", "conductivity": k, "density": 1e3, "specific_heat": 1e3}],
        "body": [{"material": "m"}],
        "initial": {"value": 300.0, "regions": [{"shape": "box", "lower": [0.0], "upper": [5e-9], "value": guess}]},
        "boundary": {
            "x_min": {"type": "neumann", "flux": -q},
            "x_max": {"type": "robin", "h": h, "ambient": 300.0},
        },
    }
    result = solve(tmp_path, settings, tolerance)
    with h5py.File(tmp_path / "case.h5") as f:
        exact = 300.0 + q / h + q / k * (1.0 - f["x"][...])
    rounding = 2e-6  # roundings of the film's T by half an ulp have the square 8e-14
    assert abs(result.field - exact).max() < tolerance * (2.0 * q * q / k / h) ** 0.5 + rounding


def test_the_residuals_are_in_the_file(tmp_path):
    """They start at 1 and fall by a factor of at least 5 on average, as with a V-cycle."""
    solve(tmp_path, cube([33] * 3), 1e-10)
    with h5py.File(tmp_path / "case.h5") as f:
        residual, count = f["solver/residual"][...], f.attrs["steady_iterations"]
        assert f.attrs["steady_residual"] <= 1e-10
    assert len(residual) == count + 1 and residual[0] == 1.0
    assert residual[-1] <= 1e-10 and residual[-1] ** (1.0 / count) <= 0.2
    assert (residual[2:] < residual[:-2]).all()


def test_a_tolerance_that_no_double_meets_ends_at_rounding(tmp_path):
    settings = {**cube([17] * 3), "steady": {"tolerance": 1e-30, "method": "multigrid"}}
    done = command(tmp_path, settings, "run")
    assert done.returncode == 0 and "met but for rounding" in done.stdout, done.stdout + done.stderr
    with h5py.File(tmp_path / "case.h5") as f:
        assert f.attrs["steady_residual"] < 1e-13 and f.attrs["steady_iterations"] < 100


# for the larger sources float cannot even hold the result of a single sweep
@pytest.mark.parametrize("source", [{"value": 1e40}, {"value": 1e44}, {"expression": "1e44*(1+x)"}])
@pytest.mark.parametrize("method", ["multigrid", "spectral"])
def test_a_solution_that_float_cannot_hold_is_not_the_initial_field(tmp_path, method, source):
    rod = {
        "precision": "float",
        "grid": {"points": [9], "upper": [1.0]},
        "material": {"conductivity": 1.0, "density": 1.0, "specific_heat": 1.0},
        "initial": {"value": 300.0},
        "source": source,
        "boundary": {"all": {"type": "dirichlet", "value": 300.0}},
        "steady": {"method": method, "tolerance": 1e-4},
    }
    code, told = ended(tmp_path, rod)
    assert code == 2 and f'steady.method = "{method}": of its solution the temperature is inf at node (1)' in told
    assert "initial" not in told and 'precision = "double"' in told


# with radius 3 the sums are larger than their terms
@pytest.mark.parametrize("run", [
    {"steady": {"method": "spectral", "tolerance": 1e-4}},
    {"time": {"end": 1.0, "method": "spectral"}}, {"time": {"end": 1.0, "step": 0.1, "method": "rkl2"}}, {"time": {"end": 1.0}},
])  # fmt: skip
def test_an_initial_field_whose_sweep_float_cannot_hold_is_named(tmp_path, run):
    plate = {
        "precision": "float",
        "stencil": {"radius": 3},
        "grid": {"points": [21, 11], "upper": [1.0, 0.5]},
        "material": {"conductivity": 1.0, "density": 1.0, "specific_heat": 100.0},
        "initial": {"expression": "3.4e38*cos(60*x)"},
        "boundary": {"all": {"type": "reflective"}, "x_min": {"type": "dirichlet", "value": 0.0}, "x_max": {"type": "dirichlet", "value": -3.4e38}},
        **run,
    }
    code, told = ended(tmp_path, plate)
    assert code == (2 if "steady" in run else 1) and 'precision = "double"' in told and "expressions" not in told, told
    assert ("look at the units of initial field, source and walls: a float is at most 3.4e38" in told) == ("steady" in run), told
    assert ("initial field, walls and source are so large that a float cannot hold what is computed from them" in told) == ("time" in run), told


@pytest.mark.parametrize("method", ["multigrid", "spectral"])
def test_a_solution_whose_heat_no_double_holds_is_refused(tmp_path, method):
    rod = {
        "grid": {"points": [9], "upper": [1.0]},
        "material": {"conductivity": 1.0, "density": 1.0, "specific_heat": 1.0},
        "initial": {"value": 0.0},
        "source": {"value": 1e304},
        "boundary": {"all": {"type": "dirichlet", "value": 0.0}},
        "steady": {"method": method, "tolerance": 1e-4},
    }
    code, told = ended(tmp_path, rod)
    assert code == 2 and "of its solution the temperature is " in told and "a temperature is at most 1e300" in told, told
