"""Walls of a body whose numbers change in place and time together, in one expression: a laser that moves over a wall.
test_body_same.py shows that they agree with a stencil's to rounding."""

import cmath
import json
import math

import h5py
import numpy as np
import pytest
from helpers import BACKEND, ROUNDOFF, assert_order, config, run
from program import heatsolve, must

PRECISIONS = ["double", "float"]
ALIKE = {
    "materials": [{"name": name, "conductivity": 0.1, "density": 2.0, "specific_heat": 1.0} for name in ("one", "other")],
    "body": [{"material": "one"}, {"material": "other", "shape": "sphere", "centre": 0.5, "radius": 0.3}],
}


def alike(dims):
    """Two materials that differ only in name, so that the operator is the body's."""
    first, ball = ALIKE["body"]
    return {**ALIKE, "body": [first, {**ball, "centre": [0.5] * dims}]}


# ---- an exact solution ---------------------------------------------------------------------------

CONDUCTIVITY, DIFFUSIVITY, FREQUENCY, HEIGHT = 0.1, 0.05, 2.0, 1.0
H, AIR = 0.4, 0.3


class Wave:
    """T = Re(a cosh(m (1 - y)) exp(i (k.x - w t))) over 0 < y < 1: a wave that travels along the wall y = 0 and heats
    the slab, which is insulated at y = 1. m^2 = k^2 - i w/alpha."""

    def __init__(self, dims):
        self.phase = "2*pi*x-2*t" if dims == 2 else "2*pi*x+2*pi*z-2*t"
        self.m = cmath.sqrt((dims - 1) * (2 * math.pi) ** 2 - 1j * FREQUENCY / DIFFUSIVITY)
        self.a = 1.0 / abs(cmath.cosh(self.m))

    def real(self, amplitude, constant=0.0):
        """Re(amplitude exp(i phase)) + constant"""
        return f"{constant!r}+{amplitude.real!r}*cos({self.phase})-({amplitude.imag!r})*sin({self.phase})"

    def exact(self):
        p, q = f"({self.m.real!r}*(1-y))", f"({self.m.imag!r}*(1-y))"
        return f"{self.a!r}*(cosh{p}*cos{q}*cos({self.phase})-sinh{p}*sin{q}*sin({self.phase}))"

    def wall(self, kind):
        at_wall = self.a * cmath.cosh(self.m)
        leaving = -CONDUCTIVITY * self.a * self.m * cmath.sinh(self.m)
        return {
            "flux": {"type": "neumann", "flux": self.real(leaving)},
            "ambient": {"type": "robin", "h": H, "ambient": self.real(at_wall - leaving / H)},
            "flux beside convection": {
                "type": "robin", "h": H, "ambient": AIR, "flux": self.real(leaving - H * at_wall, H * AIR)
            },
            "value": {"type": "dirichlet", "value": self.real(at_wall)},
        }[kind]  # fmt: skip

    def settings(self, cells, kind, dims):
        points = [cells, cells + 1, cells][:dims]
        sides = {f"{a}_{s}": {"type": "periodic"} for a in "xz"[: dims - 1] for s in ("min", "max")}
        return {
            "grid": {"points": points, "lower": [0.0] * dims, "spacing": [1.0 / cells] * dims},
            **alike(dims),
            "initial": {"expression": self.exact()},
            "boundary": {**sides, "y_min": self.wall(kind), "y_max": {"type": "reflective"}},
            "time": {"end": 0.5},
            "exact": {"expression": self.exact()},
        }


KINDS = ["flux", "ambient", "flux beside convection", "value"]


@pytest.mark.parametrize("dims, cells", [(2, (16, 32, 64)), (3, (8, 16, 32))])
@pytest.mark.parametrize("kind", KINDS)
def test_a_wave_along_the_wall_is_of_second_order(tmp_path, kind, dims, cells):
    """The step is proportional to the square of the spacing."""
    wave = Wave(dims)
    errors = []
    for n in cells:
        result = run(tmp_path, wave.settings(n, kind, dims))
        assert result.attributes["operator"] == "conduction"
        errors.append(np.abs(result.field - result.evaluate(wave.exact())).max())
    assert_order(errors[-2:], 1.85, 2.25, kind)
    assert_order(errors, 1.7, 2.4, kind)
    assert errors[-1] < (2e-3 if dims == 2 else 2e-2)


def test_a_coarser_and_a_finer_grid_are_made_by_verify(tmp_path):
    settings = {**Wave(2).settings(32, "flux", 2), "output": {"file": "wave.h5"}, "solver": {"backend": BACKEND}}
    (tmp_path / "wave.cfg").write_text(config(settings))
    done = heatsolve(tmp_path, "verify", "wave.cfg", timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no grid refinement" not in done.stdout and "order" in done.stdout, done.stdout


# ---- what can be said otherwise ------------------------------------------------------------------

# the same wall as an expression of place and time, and without one
SAME = {
    "of time": ({"type": "neumann", "flux": "(3*cos(5*t)-t)*(1+x)/(1+x)"}, {"type": "neumann", "flux": "3*cos(5*t)-t"}),
    "of the place": ({"type": "neumann", "flux": "sin(3*x)+y+(t-t)"}, {"type": "neumann", "flux": "sin(3*x)+y"}),
    "a product": (
        {"type": "neumann", "flux": "2+x+6*t+3*x*t"},
        {"type": "neumann", "flux_file": "plane.npy", "flux_table": "line.txt"},
    ),
    "of the ambient": (
        {"type": "robin", "h": "1+x*x", "ambient": "2+x+6*t+3*x*t"},
        {"type": "robin", "h": "1+x*x", "ambient_file": "plane.npy", "ambient_table": "line.txt"},
    ),
    "beside convection": (
        {"type": "robin", "h": 2.0, "ambient": "3+t", "flux": "2+x+6*t+3*x*t"},
        {"type": "robin", "h": 2.0, "ambient": "3+t", "flux_file": "plane.npy", "flux_table": "line.txt"},
    ),
    "a temperature": (
        {"type": "dirichlet", "value": "2+x+6*t+3*x*t"},
        {"type": "dirichlet", "value_file": "plane.npy", "value_table": "line.txt"},
    ),
}


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("kind", SAME)
def test_what_can_be_taken_apart_is_the_same_either_way(tmp_path, kind, precision):
    x = np.linspace(0.0, 1.0, 13)
    np.save(tmp_path / "plane.npy", np.broadcast_to(2.0 + x, (9, 13)))
    (tmp_path / "line.txt").write_text("0 1\n2 7\n")
    fields = []
    for wall in SAME[kind]:
        settings = {
            "precision": precision,
            "grid": {"points": [13, 9, 7], "upper": [1.0, 0.8, 0.6]},
            **alike(3),
            "initial": {"expression": "1+x*y"},
            "boundary": {"all": {"type": "reflective"}, "z_max": wall, "y_min": {"type": "robin", "h": 1.0, "ambient": 0.0}},
            "source": {"expression": "0.2*z*cos(3*t)"},
            "time": {"sweeps": 100, "step": 0.01},
        }
        fields.append(run(tmp_path, settings).field.astype(float))
    # 2*3 + 4 roundings a sweep and node in either, and one more of the inflow
    assert np.abs(fields[0] - fields[1]).max() <= 100 * 2 * 11 * ROUNDOFF[precision] * np.abs(fields[0]).max()
    assert np.abs(fields[0] - 1.0).max() > 0.5


# ---- what a laser brings -------------------------------------------------------------------------

WIDTH, POWER = 0.0021, 60.0
SPOT = f"-{POWER / (2 * math.pi * WIDTH**2)!r}*exp(-((x-0.012-0.01*t)^2+(y-0.02)^2)/{2 * WIDTH**2!r})"


def laser(wall, **more):
    """A plate of two materials with a spot that moves over it, far from its sides, in a patch and across its border."""
    steel = {"name": "steel", "conductivity": 20.0, "density": 7800.0, "specific_heat": 500.0}
    copper = {"name": "copper", "conductivity": 400.0, "density": 8900.0, "specific_heat": 390.0}
    return {
        "grid": {"points": [41, 41, 9], "upper": [0.04, 0.04, 0.004]},
        "materials": [steel, copper],
        "body": [{"material": "steel"}, {"material": "copper", "shape": "box", "lower": [0.0, 0.0, 0.0], "upper": [0.04, 0.04, 0.0017]}],
        "initial": {"value": 300.0},
        "boundary": {"all": {"type": "reflective"}, "z_max": wall},
        "time": {"sweeps": 400},
        "output": {"history_every": 10},
        **more,
    }


@pytest.mark.parametrize("precision", PRECISIONS)
def test_what_enters_is_the_integral_of_the_flux(tmp_path, precision):
    """For a Gaussian 2.1 spacings wide the sum over the nodes is the integral to the last digits, anywhere."""
    history = run(tmp_path, laser({"type": "neumann", "flux": SPOT}, precision=precision)).history
    assert history["flux/z_max"][1:] == pytest.approx(-POWER, rel=1e-6)  # 2e-9 of it lies beyond a side 6 widths away
    assert np.abs(history["source"][1:]).max() == 0.0
    assert history["stored"][1:] == pytest.approx(POWER, rel=1e-5 if precision == "double" else 1e-2)
    bound = {"double": 1e-11, "float": 1e-2}[precision]
    assert np.abs(history["imbalance"][1:]).max() <= bound * POWER


def test_a_spot_on_a_wall_that_convects_enters_through_that(tmp_path):
    """Patch and face are separate walls: the patch has flux and convection on its own area, the face the rest."""
    wall = {"type": "robin", "h": 500.0, "ambient": 300.0, "flux": SPOT}
    patch = {**wall, "h": 2000.0, "lower": [0.0103, 0.0098], "upper": [0.0204, 0.0307]}
    history = run(tmp_path, laser({**wall, "patches": [patch]})).history
    both = history["flux/z_max"] + history["flux/z_max_1"]
    assert np.abs(history["flux/z_max"][1:]).min() > 0.0 and np.abs(history["flux/z_max_1"][1:]).min() > 1.0
    assert np.abs(history["imbalance"][1:]).max() <= 1e-11 * POWER
    assert history["stored"][1:] == pytest.approx(-both[1:], rel=1e-9)
    assert both[1] < -0.9 * POWER < both[-1] < -0.5 * POWER  # the loss grows as the plate heats up
    first = run(tmp_path, laser({**wall, "patches": [patch]}, time={"sweeps": 1}, output={"history_every": 1})).history
    assert first["flux/z_max"][-1] + first["flux/z_max_1"][-1] == pytest.approx(-POWER, rel=1e-6)


# ---- the same bits -------------------------------------------------------------------------------


def random_case(directory, seed, form, dims, precision, **more):
    """A random body in the given form, with walls of any kind, most of them moving, and patches; a source; stretched or
    periodic axes. In the form "bytes" it has nothing that would need more than 256 different rows."""
    rng = np.random.default_rng(seed)
    points = {"arrays": { 2: [271, 253], 3: [45, 41, 39]}}.get(form, {1: [301], 2: [47, 31], 3: [19, 14, 12]})[dims]
    fast = max(points) ** 2 / 20.0  # scaled to the longest stable step, which is short
    speed = lambda: f"{rng.uniform(1, 9):.3f}*x+{rng.uniform(1, 9):.3f}*{'xyy'[dims - 1]}-{rng.uniform(1, 9) * fast:.2f}*t"
    h = lambda: 3.0 if form == "bytes" else f"2+cos({rng.uniform(1, 9):.2f}*x)"
    walls = [
        lambda: {"type": "neumann", "flux": f"{rng.uniform(1, 9):.2f}*sin({speed()})"},
        lambda: {"type": "robin", "h": h(), "ambient": f"1+cos({speed()})"},
        lambda: {"type": "robin", "h": h(), "ambient": f"1+cos({speed()})", "flux": f"exp(-({speed()})^2)"},
        lambda: {"type": "robin", "h": 3.0, "ambient": "2+sin(9*t)", "flux": f"exp(-({speed()})^2)"},
        lambda: {"type": "dirichlet", "value": f"1+sin({speed()})"},
        lambda: {"type": "fixed"},
        lambda: {"type": "neumann", "flux": "cos(7*t)"},
        lambda: {"type": "robin", "h_table": "h.txt", "ambient": rng.choice(["1", "2+sin(9*t)"])},
    ]
    (directory / "h.txt").write_text(f"0 0.5\n{0.3 / fast!r} 9\n{0.6 / fast!r} 0\n{0.9 / fast!r} 5\n")
    axes = {}
    boundary = {}
    for a, n in zip("xyz", points):
        wraps = rng.random() < 0.25
        steps = rng.uniform(0.5, 1.5, n - 1 + wraps) if form != "bytes" and rng.random() < 0.4 else np.ones(n - 1 + wraps)
        axes[a] = [float(f"{at:.12g}") for at in np.concatenate([[0.0], np.cumsum(steps) / steps.sum()])]
        for side in ("min", "max"):
            wall = walls[rng.integers(len(walls))]() if not wraps else {"type": "periodic"}
            if not wraps and dims > 1:
                patch = lambda: {"lower": list(rng.uniform(-0.1, 0.5, dims - 1)), "upper": list(rng.uniform(0.5, 1.1, dims - 1))}
                wall["patches"] = [{**walls[rng.integers(len(walls))](), **patch()} for _ in range(rng.integers(3))]
            boundary[f"{a}_{side}"] = {k: v for k, v in wall.items() if v != []}
    settings = {
        "precision": precision,
        "grid": axes if form != "bytes" else {"points": points, "upper": [1.0] * dims},
        "initial": {"expression": "1+0.5*sin(9*x)"},
        "boundary": boundary,
        "time": {"sweeps": 23},
        "output": {"history_every": 5},
        **more,
    }
    if rng.random() < 0.6:
        settings["source"] = {"expression": "5*x*cos(40*t)" if rng.random() < 0.5 else "5*x"}
    if form == "bytes":
        materials = [{"name": n, "conductivity": k, "density": 2.0, "specific_heat": c} for n, k, c in (("a", 1.0, 1.0), ("b", 20.0, 0.4))]
        box = {"material": "b", "shape": "box", "lower": [0.31] * dims, "upper": [0.77] * dims}
        return {**settings, "materials": materials, "body": [{"material": "a"}, box]}
    np.save(directory / "k.npy", rng.uniform(0.1, 9.0, points[::-1]))
    np.save(directory / "c.npy", rng.uniform(0.5, 2.0, points[::-1]))
    return {**settings, "measured": {"conductivity": {"file": "k.npy"}, "capacity": {"file": "c.npy"}}}


def assert_prescribed(result, boundary):
    """Faces with a given temperature have it at the end; edges are left out, since other faces may have them, and
    patches."""
    for name, wall in boundary.items():
        if wall["type"] != "dirichlet" or "patches" in wall:
            continue
        axis = result.dims - 1 - "xyz".index(name[0])
        inside = tuple(slice(None) if a == axis else slice(1, -1) for a in range(result.dims))
        take = lambda field: np.take(field[inside], 0 if name.endswith("min") else -1, axis)
        values = take(result.evaluate(wall["value"]))
        assert np.abs(take(result.field) - values).max() <= 1e-6, name


FORMS = {"bytes": "stored as 1-byte indices", "shorts": "stored as 2-byte indices", "arrays": "each with its own coefficients"}
# an axis can list at most 1000 coordinates, so 1D has no row of so many nodes
EACH = [(form, dims) for form in FORMS for dims in (1, 2, 3) if (form, dims) != ("arrays", 1)]
CASES = [(form, dims, seed) for form, dims in EACH for seed in range(2 if form == "arrays" else 4)]


def h_varies(settings):
    return "h_table" in json.dumps(settings["boundary"])


def moves(settings):
    return "*x" in json.dumps(settings["boundary"]) and "*t" in json.dumps(settings["boundary"])


@pytest.mark.parametrize("form, dims, seed", CASES)
def test_neither_kernels_nor_threads_change_a_bit(tmp_path, form, dims, seed):
    precision = PRECISIONS[seed % 2]
    settings = random_case(tmp_path, 100 * dims + seed, form, dims, precision)
    fuses = dims > 1 and form != "arrays" and not h_varies(settings)
    kernels = ["reference", "openmp"] + ["conduction_wavefront"] * fuses
    first = None
    for kernel in kernels:
        for threads in (1, 3) if kernel != "reference" else (2,):
            solver = {"backend": "cpu", "kernel": kernel, "threads": threads}
            result = run(tmp_path, {**settings, "solver": solver})
            first = first or result
            assert result.field.tobytes() == first.field.tobytes(), (kernel, threads)
            for name, column in first.history.items():
                assert result.history[name].tobytes() == column.tobytes(), (kernel, threads, name)
    assert_prescribed(first, settings["boundary"])
    if BACKEND != "cpu":
        assert run(tmp_path, settings).field.tobytes() == first.field.tobytes()
    assert np.isfinite(first.field).all()
    flows = [np.abs(column[1:]).max() for name, column in first.history.items() if name.startswith(("flux/", "stored"))]
    bound = {"double": 1e-10, "float": 0.05}[precision]
    assert np.abs(first.history["imbalance"][1:]).max() <= bound * max(1.0, *flows)
    check = must(tmp_path, "check", "case.cfg", timeout=300)
    assert FORMS[form] in check, check


@pytest.mark.parametrize("precision", PRECISIONS)
def test_walls_of_time_alone_where_all_rows_differ(tmp_path, precision):
    """Prescribed temperatures are those of the end; the balance closes with the heat from convection and a flux."""
    rng = np.random.default_rng(7)
    np.save(tmp_path / "k.npy", rng.uniform(0.1, 9.0, [253, 271]))
    np.save(tmp_path / "c.npy", rng.uniform(0.5, 2.0, [253, 271]))
    boundary = {
        "x_min": {"type": "dirichlet", "value": "2+sin(3e4*t)"},
        "x_max": {"type": "dirichlet", "value": "1.5"},
        "y_min": {"type": "robin", "h": 3.0, "ambient": "2+cos(3e4*t)"},
        "y_max": {"type": "neumann", "flux": "-5*sin(2e4*t)"},
    }
    settings = {
        "precision": precision,
        "grid": {"points": [271, 253], "upper": [1.0, 1.0]},
        "measured": {"conductivity": {"file": "k.npy"}, "capacity": {"file": "c.npy"}},
        "initial": {"expression": "1+0.5*sin(9*x)"},
        "boundary": boundary,
        "time": {"sweeps": 40},
        "output": {"history_every": 1},
    }
    result = run(tmp_path, settings)
    assert_prescribed(result, boundary)
    history = result.history
    assert np.abs(np.diff(history["flux/x_min"][1:])).max() > 1.0 and np.abs(np.diff(history["flux/y_max"][1:])).max() > 1e-3
    # roundings of the changes of 7e4 nodes, most of which cancel: 1e-15 and 1e-6 were seen
    bound = {"double": 1e-13, "float": 2e-5}[precision]
    assert np.abs(history["imbalance"][1:]).max() <= bound * max(1.0, np.abs(history["stored"][1:]).max())


def test_they_do_move(tmp_path):
    """Shows that the cases above do contain walls that move, and an h that changes; but some can be fused."""
    cases = [(form, random_case(tmp_path, 100 * dims + seed, form, dims, "double")) for form, dims, seed in CASES]
    assert sum(moves(case) for form, case in cases if form == "bytes") >= 10
    assert all(sum(h_varies(case) for of, case in cases if of == form) >= 3 for form in FORMS)
    assert sum(not h_varies(case) for form, case in cases if form == "bytes") >= 3


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("form", FORMS)
def test_a_run_that_goes_on_has_the_same_bits(tmp_path, form, precision):
    settings = random_case(tmp_path, 202, form, 2, precision, output={"every": 20}, solver={"backend": BACKEND})
    assert moves(settings)
    ends = []
    for name, stops in (("whole", [60]), ("parts", [20, 40, 60])):
        for n, end in enumerate(stops):
            more = {**settings, "time": {"sweeps": end}, "output": {"file": f"{name}.h5", "every": 20}}
            (tmp_path / f"{name}.cfg").write_text(config(more))
            must(tmp_path, "run", f"{name}.cfg", "--quiet", *(["--resume"] if n else []), timeout=300)
        with h5py.File(tmp_path / f"{name}.h5") as f:
            ends.append((f["temperature"][...].tobytes(), {k: v[...].tobytes() for k, v in f["history"].items() if isinstance(v, h5py.Dataset)}))
    assert ends[0] == ends[1]


# ---- what is said of them ------------------------------------------------------------------------


def told(directory, command, settings):
    (directory / "case.cfg").write_text(config({"output": {"file": "case.h5"}, "solver": {"backend": "cpu"}, **settings}))
    return heatsolve(directory, command, "case.cfg", timeout=300)


def test_a_steady_state_is_not_promised(tmp_path):
    steady = laser({"type": "robin", "h": 500.0, "ambient": 300.0, "flux": SPOT}, steady={"tolerance": 1e-6}, output={"file": "case.h5"})
    assert "not known when: the walls or the source change with time" in told(tmp_path, "check", steady).stdout


def test_a_moving_wall_that_gives_nan_later_is_named_when_it_does(tmp_path):
    done = told(tmp_path, "run", laser({"type": "neumann", "flux": "x*log(0.001-t)"}, output={"file": "case.h5"}))
    assert done.returncode == 1
    assert "look at the values of the walls' and the source's expressions at that time" in done.stderr
