"""Sources that change in time, evaluated in every possible way: sweeps add the expression's value.

With a stencil of the centre alone the field is the sum of what was added at t = 0, 1, ... times the step.
"""

import numpy as np
import pytest
from helpers import BACKEND, ROUNDOFF, evaluate, run

STEP, SWEEPS = 0.05, 9
POINTS = [13, 11, 9]

# as rearranged by functions/rearrange.c and functions/separation.h, along z, y and x; and left as they are
SOURCES = {
    "moving": "7*exp(-((x - t)^2 + (y - 0.5)^2 + (z - 0.3)^2)/0.05)",
    "moving in 3d": "7*exp(-((x - t)^2 + (y - 0.5*sin(t))^2 + (z - 0.3*cos(t))^2)/0.05)",
    "as it stands": "sin(x + y*t) + z",
    "product": "x*y*z*t",
    "product and term": "x*y*z + t",
    "column": "(sin(x*y) + t)*exp(-z)/(1 + z*t)",
    "along y": "sin(x + z*t)*y + y^2*t",
    "along x": "cos(y*z*t)*(x - t) - x",
    "quotient": "t*x/((1 + y^2)*(2 + z))",
    "power": "2^(x*sin(t) - y + z)",
    "none": "sin(x*y*z*t + 1)",
    "none, root": "exp(-sqrt((x - t)^2 + y^2 + z^2 + 0.1))",
    "x and t": "x*t",
    "x, y and t": "exp(-(x - t)^2 - y^2)",
}


@pytest.mark.parametrize("precision", ["float", "double"])
@pytest.mark.parametrize("dims", [2, 3])
@pytest.mark.parametrize("name", SOURCES)
def test_what_sweeps_add_is_the_expression(tmp_path, name, dims, precision):
    settings = {
        "precision": precision,
        "grid": {"points": POINTS[:dims], "spacing": 0.1},
        "stencil": {"radius": 1, "c0": 1.0, **{f"c{n}": 0.0 for n in range(1, 2 * dims + 1)}},
        "initial": {"value": 0.0},
        "source": {"expression": SOURCES[name]},
        "boundary": {"all": {"type": "reflective"}},
        "time": {"sweeps": SWEEPS, "step": STEP},
    }
    result = run(tmp_path, settings)
    added = [
        np.broadcast_to(evaluate(SOURCES[name], t=STEP * n, **{"z": 0.0, **result.coordinates}), result.field.shape)
        for n in range(SWEEPS)
    ]
    size = sum(np.abs(a).max() for a in added)
    # each sweep rounds its source and the sum; an exponent of 50 multiplies the rounding by 50
    most = 2 * SWEEPS * ROUNDOFF[precision] * size + 200 * ROUNDOFF["double"] * size
    assert np.abs(result.field - sum(added)).max() <= most


@pytest.mark.parametrize(
    "name, source",
    [
        ("sphere", "(x - t)^2 + (y - 0.5)^2 + (z - 0.4)^2 < 0.09 ? 2 : 0"),
        ("box", "x > t && x < t + 0.35 && y > 0.25 && z < 0.55 ? 2 : 0"),
        ("disk on a face", "(x - t)^2 + (y - 0.5)^2 < 0.09 && z < 0.15 ? 2 : 0"),
    ],
)
def test_where_a_source_begins_and_ends(tmp_path, name, source):
    settings = {
        "grid": {"points": POINTS, "spacing": 0.1},
        "stencil": {"radius": 1, "c0": 1.0, **{f"c{n}": 0.0 for n in range(1, 7)}},
        "initial": {"value": 0.0},
        "source": {"expression": source},
        "boundary": {"all": {"type": "reflective"}},
        "time": {"sweeps": 5, "step": 0.13},
    }
    result = run(tmp_path, settings)
    x, y, z = (result.coordinates[axis] for axis in "xyz")
    times = [0.13 * n for n in range(5)]
    inside = {
        "sphere": [(x - t) ** 2 + (y - 0.5) ** 2 + (z - 0.4) ** 2 < 0.09 for t in times],
        "box": [(x > t) & (x < t + 0.35) & (y > 0.25) & (z < 0.55) for t in times],
        "disk on a face": [((x - t) ** 2 + (y - 0.5) ** 2 < 0.09) & (z < 0.15) for t in times],
    }[name]
    assert (result.field == sum(2.0 * np.broadcast_to(i, result.field.shape) for i in inside)).all()
    assert 0 < np.count_nonzero(result.field) < result.field.size


def test_a_source_without_bounds_is_left_as_it_is(tmp_path):
    """exp(a + b) is a finite number where exp(a)*exp(b) is 0*inf."""
    settings = {
        "grid": {"points": [5, 5, 5], "spacing": 250.0},
        "stencil": {"radius": 1, "c0": 1.0, **{f"c{n}": 0.0 for n in range(1, 7)}},
        "initial": {"value": 0.0},
        "source": {"expression": "exp(x - y - z - 1000 + t)"},
        "boundary": {"all": {"type": "reflective"}},
        "time": {"sweeps": 2, "step": 1.0},
    }
    result = run(tmp_path, settings)
    x, y, z = (result.coordinates[axis] for axis in "xyz")
    expected = np.exp(x - y - z - 1000.0) + np.exp(x - y - z - 999.0)
    assert expected.max() > 1.0
    assert np.allclose(result.field, expected, rtol=1e-13)


# in 2D the integral of a line of it overflows
LARGE = {**SOURCES, "large": "(1.7e308 + 1e305*x*t)*(1e-306 + 1e-306*y)"}


@pytest.mark.parametrize("operator", ["stencil", "body"])
@pytest.mark.parametrize("dims", [2, 3])
@pytest.mark.parametrize("name", LARGE)
def test_a_row_has_what_it_puts_in(tmp_path, name, dims, operator):
    """The integral over the nodes' volumes, at the start of the sweep; with it the balance closes."""
    properties = {"conductivity": 1e-3, "density": 2.0, "specific_heat": 3.0}
    settings = {
        "grid": {"points": POINTS[:dims], "spacing": 0.1},
        "material": properties,
        "initial": {"value": 0.0},
        "source": {"expression": LARGE[name]},
        "boundary": {"all": {"type": "reflective"}},
        "time": {"sweeps": SWEEPS, "step": STEP},
        "output": {"history_every": 1},
    }
    if operator == "body":
        settings["materials"] = [{"name": "a", **properties}, {"name": "b", **properties, "density": 5.0}]
        settings["body"] = [{"material": "a"}, {"material": "b", "shape": "sphere", "centre": [0.5, 0.5, 0.5][:dims], "radius": 0.3}]
        del settings["material"]
    result = run(tmp_path, settings)
    volume = result.weights() * 0.1**dims
    added = [volume * evaluate(LARGE[name], t=STEP * n, **{"z": 0.0, **result.coordinates}) for n in range(SWEEPS)]
    size = max(np.abs(a).sum() for a in added)
    # sums of 143 and 1287 terms; an exponent of 100 multiplies the rounding by 100
    assert np.abs(result.history["source"][1:] - [a.sum() for a in added]).max() <= 300 * ROUNDOFF["double"] * size
    assert np.abs(result.history["imbalance"][1:]).max() <= 300 * ROUNDOFF["double"] * max(size, np.abs(result.history["stored"][1:]).max())


# ---- bodies on a GPU ------------------------------------------------------------------------------

MOVING = {
    "grid": {"points": [37, 21, 13], "upper": [1.0, 0.6, 0.4]},
    "materials": [
        {"name": "a", "conductivity": 0.5, "density": 2.0, "specific_heat": 1.0},
        {"name": "b", "conductivity": 2.0, "density": 3.0, "specific_heat": 0.7, "perfusion": {"rate": 0.2, "reference": 290.0}},
    ],
    "body": [{"material": "a"}, {"material": "b", "shape": "sphere", "centre": [0.4, 0.3, 0.2], "radius": 0.17}],
    "initial": {"value": 300.0},
    "boundary": {
        "all": {"type": "robin", "h": 2.0, "ambient": 290.0},
        "x_min": {"type": "dirichlet", "value": "300 + 20*t*y"},
        "z_max": {"type": "neumann", "flux": "30*(x - t)*y"},
    },
}
STRETCHED = {"x": [0.02 * n + 2e-4 * n * n for n in range(37)], "y": [0.03 * n for n in range(21)], "z": [3e-3 * n * n for n in range(1, 14)]}
# a source for which a GPU has the host's bits, and one whose exp it may round differently: (expression, difference)
ON_GPU = {"polynomial": ("5e3*x*t - 3e3*y*z*t*t", 0.0), "spot": ("4e3*exp(-((x - t)^2 + (y - 0.3)^2 + z^2)/0.01)", 1e-11)}


@pytest.mark.skipif(BACKEND == "cpu", reason="of a GPU beside the CPU")
@pytest.mark.parametrize("precision", ["double", "float"])
@pytest.mark.parametrize("grid", ["uniform", "stretched"])
@pytest.mark.parametrize("name", ON_GPU)
@pytest.mark.parametrize("method", ["euler", "rkl2", "implicit"])
def test_a_gpu_evaluates_what_moves_in_a_body_as_the_cpu(tmp_path, method, name, grid, precision):
    """Also with a wall whose flux moves. Implicit steps agree to the solver's tolerance, in float to rounding."""
    expression, apart = ON_GPU[name]
    settings = {**MOVING, "precision": precision, "source": {"expression": expression}}
    if grid == "stretched":
        settings["grid"] = STRETCHED
    steps = {} if method == "euler" else {"step": 0.02, "method": method}
    settings["time"] = {"end": 0.2, **steps}
    cpu, gpu = (run(tmp_path, {**settings, "solver": {"backend": backend}}).field for backend in ("cpu", BACKEND))
    if method == "implicit":
        apart = 1e-4
    elif apart and precision == "float":
        apart = 3e-4  # ten of its roundings at 300
    assert np.ptp(cpu) > 20.0
    assert np.abs(gpu.astype(float) - cpu).max() <= apart
