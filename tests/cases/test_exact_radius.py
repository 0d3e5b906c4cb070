"""Radius 2 and 3: the orders that docs/numerics.md claims, 4 and 6 inside, and the orders that each wall leaves.

The error in time must be excluded. Under forward Euler with the exact Laplacian a mode that fits the wall decays as (1
- rate*step)^sweeps; compared with that, only the error in space remains. Other tests use a steady solution.
"""

import math

import pytest
from helpers import AXES, assert_order, run, unit_grid
from test_exact_manufactured import wave_case
from test_exact_modes import ALPHA, CONDUCTIVITY, MATERIAL, MODES, SLOPE, face

# alpha*step/h^2 in 1D: with these all coefficients are exact in float too
FOURIER = {2: 3 / 16, 3: 45 / 256}


def step_of(radius, dims, cells):
    return FOURIER[radius] / {1: 1, 2: 2, 3: 4}[dims] / ALPHA / cells**2


def mode_of(kind, precision):
    """(mode along an axis, wave number). In double as in test_exact_modes; in float two whole waves on the unit length,
    so that the error of order 6 stays above the roundings."""
    if precision == "double" or kind == "robin":
        return MODES[kind][:2]
    shape = {"periodic": "cos({k}*{a}+0.7)", "dirichlet": "sin({k}*{a})", "constant": "sin({k}*{a})"}
    return shape.get(kind, "cos({k}*{a})").replace("{k}", "(4*pi)"), 4 * math.pi


def mode_case(kind, dims, radius, precision, cells, coarsest):
    shape, number = mode_of(kind, precision)
    background = "+".join(["1.5"] + [f"({SLOPE[a]})*{a}" for a in AXES[:dims] if MODES[kind][2]])
    boundary = {f"{a}_{s}": face(kind, a, s, background) for a in AXES[:dims] for s in ("min", "max")}
    mode = "*".join(shape.format(a=a) for a in AXES[:dims])
    rate, step = ALPHA * dims * number**2, step_of(radius, dims, cells)
    sweeps = round(max(0.5 / rate / step_of(radius, dims, coarsest), 1)) * (cells // coarsest) ** 2
    case = {
        "precision": precision,
        "grid": unit_grid(cells, boundary, dims),
        "material": MATERIAL,
        "stencil": {"radius": radius},
        "initial": {"expression": f"{background}+8*{mode}"},
        "boundary": boundary,
        "time": {"end": sweeps * step, "step": step},
        "exact": {"expression": f"{background}+8*{mode}*(1-{rate * step!r})^(t/{step!r})"},
    }
    return case, mode


def rate_errors(directory, kind, dims, radius, precision, coarsest):
    """Relative errors of the mode's decay rate: in n sweeps it falls by (1 - rate*step)^n. Its amplitude is found by
    projection, in which roundings average out."""
    errors = []
    for cells in (coarsest, 2 * coarsest, 4 * coarsest):
        case, mode = mode_case(kind, dims, radius, precision, cells, coarsest)
        result = run(directory, case, f"cells{cells}")
        result.error()
        shape, weight = result.evaluate(mode), result.weights()
        sizes = [
            (weight * (field - (result.evaluate(case["initial"]["expression"]) - 8 * shape)) * shape).sum()
            for field in (result.first.astype(float), result.field.astype(float))
        ]
        sweeps, step = result.attributes["sweeps"], result.attributes["step"]
        rate = (1 - (sizes[1] / sizes[0]) ** (1 / sweeps)) / step
        errors.append(abs(rate / (ALPHA * dims * mode_of(kind, precision)[1] ** 2) - 1))
    return errors


@pytest.mark.parametrize("precision", ["double", "float"])
@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("radius", [2, 3])
@pytest.mark.parametrize("kind", ["periodic", "reflective", "dirichlet", "flux", "gradient"])
def test_full_order_where_the_wall_is_a_mirror(tmp_path, kind, radius, dims, precision):
    """The next term of the truncation error is 0.16 (R = 2) or 0.18 (R = 3) times (k h)^2 of the first. That is 3
    percent on the coarsest grid in double, which lowers the order by 0.04; in float, where k h = pi/2 there, it is 40
    percent, which lowers the order by 0.4."""
    coarsest = 16 if kind == "periodic" and precision == "double" else 8
    errors = rate_errors(tmp_path, kind, dims, radius, precision, coarsest)
    slack = 0.1 if precision == "double" else 0.5
    assert_order(errors, 2 * radius - slack, 2 * radius + 0.1, kind)


@pytest.mark.parametrize("precision", ["double", "float"])
@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("radius", [2, 3])
def test_convection_is_of_second_order(tmp_path, radius, dims, precision):
    errors = rate_errors(tmp_path, "robin", dims, radius, precision, 8)
    assert_order(errors, 1.9, 2.1)


@pytest.mark.parametrize("precision", ["double", "float"])
@pytest.mark.parametrize("dims", [1, 2])
@pytest.mark.parametrize("radius", [2, 3])
@pytest.mark.parametrize("kind", ["clamp", "constant"])
def test_walls_between_nodes_leave_first_order(tmp_path, kind, radius, dims, precision):
    """They repeat one value in all ghost layers, which is wrong beyond the first layer. h on the coarsest grid is 1/32
    of the axis, and the next term lowers the order by some 10 percent."""
    errors = []
    for cells in (32, 64, 128):
        case, _ = mode_case(kind, dims, radius, "double", cells, 32)
        case["precision"] = precision
        errors.append(run(tmp_path, case, f"cells{cells}").error())
    assert_order(errors, 0.85, 1.1, kind)


def steady_case(kinds, dims, radius, cells):
    """Runs from the exact solution towards that of the differences for four decay times of the slowest mode: 2 percent
    of the difference are left. The field is exp(a) with walls of these kinds along the last axis a, and 2 + cos(pi b)
    between mirrors along the others. With fixed walls all round it is exp(3 a) and exp(1.5 b), whose errors of order 6
    stay above the roundings."""
    fixed, last = kinds == ("fixed", "fixed"), AXES[dims - 1]
    steep = 3.0 if fixed else 1.0
    others = ["exp(1.5*{b})" if fixed else "(2+cos(pi*{b}))"] * (dims - 1)
    factors = [shape.format(b=b) for b, shape in zip(AXES, others)] + [f"exp({steep}*{last})"]
    field = "*".join(factors)
    laplacian = f"{steep**2}*{field}"
    for n in range(dims - 1):
        bent = f"2.25*{factors[n]}" if fixed else f"(-pi^2*cos(pi*{AXES[n]}))"
        laplacian += "+" + "*".join(factors[:n] + [bent] + factors[n + 1 :])
    # a fixed wall lies at the innermost of its layers, so the other layers lie outside the unit cube
    outside = radius - 1 if fixed else 0
    boundary = {"all": {"type": "fixed" if fixed else "reflective"}}
    boundary.update({f"{last}_{s}": steady_face(kind, last, s, field) for s, kind in zip(("min", "max"), kinds)})
    step = step_of(radius, dims, cells)
    slowest = ALPHA * math.pi**2 * (dims if fixed else 1 if kinds[0] == kinds[1] else 0.25)
    return {
        "grid": {
            "points": [cells + 1 + 2 * outside] * dims,
            "lower": [-outside / cells] * dims,
            "spacing": [1.0 / cells] * dims,
        },
        "material": MATERIAL,
        "stencil": {"radius": radius},
        "initial": {"expression": field},
        "source": {"expression": f"-{CONDUCTIVITY}*({laplacian})"},
        "boundary": boundary,
        "time": {"end": math.ceil(4.0 / slowest / step) * step, "step": step},
        "exact": {"expression": field},
    }


def steady_face(kind, axis, side, field):
    outward = f"{-1.0 if side == 'min' else 1.0}*{field}"  # of exp(a)
    return {
        "fixed": {"type": "fixed"},
        "dirichlet": {"type": "dirichlet", "value": field},
        "gradient": {"type": "neumann", "gradient": outward},
        "robin": {"type": "robin", "h": 8.0, "ambient": f"{field}+{CONDUCTIVITY / 8.0!r}*({outward})"},
    }[kind]


def steady_errors(directory, kinds, dims, radius, coarsest):
    """Only in double: near a steady state a float field stops moving (docs/numerics.md)."""
    cells = (coarsest, 2 * coarsest, 4 * coarsest)
    return [run(directory, steady_case(kinds, dims, radius, n), f"cells{n}").error() for n in cells]


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("radius", [2, 3])
def test_fixed_walls_keep_the_full_order(tmp_path, radius, dims):
    """They use no values beyond them. In 3D, with only 6 cells on the coarsest grid, the place of the largest error
    still moves from grid to grid, which lowers the order by 0.15."""
    errors = steady_errors(tmp_path, ("fixed", "fixed"), dims, radius, 8 if dims < 3 else 6)
    assert_order(errors, 2 * radius - (0.1 if dims < 3 else 0.2), 2 * radius + 0.1)


@pytest.mark.parametrize("radius", [2, 3])
@pytest.mark.parametrize(
    "kinds, dims",
    [
        (("dirichlet", "dirichlet"), 1),
        (("dirichlet", "dirichlet"), 2),
        (("gradient", "dirichlet"), 1),
        (("dirichlet", "robin"), 1),
    ],
)
def test_other_walls_leave_second_order(tmp_path, kinds, radius, dims):
    """For a curved profile a ghost is wrong by T_xx h^2, in the row beside the wall, one h from it. Its effect is like
    that of a wall h thick, so the next term is of order h, not h^2."""
    assert_order(steady_errors(tmp_path, kinds, dims, radius, 16), 1.85, 2.1)


@pytest.mark.parametrize("precision", ["double", "float"])
@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("radius", [2, 3])
def test_walls_in_space_and_time_are_of_second_order(tmp_path, radius, dims, precision):
    kinds = [("dirichlet", "robin"), ("flux", "dirichlet"), ("gradient", "robin")][:dims]
    coarsest = 8 if dims < 3 else 6
    errors = []
    for cells in (coarsest, 2 * coarsest, 4 * coarsest):
        case = wave_case(kinds, cells, coarsest, precision, 0.06)
        step, first = step_of(radius, dims, cells), step_of(radius, dims, coarsest)
        case["time"] = {"end": math.ceil(0.06 / first) * (cells // coarsest) ** 2 * step, "step": step}
        case["stencil"] = {"radius": radius}
        errors.append(run(tmp_path, case, f"cells{cells}").error())
    assert_order(errors, 1.9, 2.1)


@pytest.mark.parametrize("precision", ["double", "float"])
@pytest.mark.parametrize("dims", [1, 2])
@pytest.mark.parametrize("radius", [2, 3])
def test_gaussian_between_fixed_walls(tmp_path, radius, dims, precision):
    """The walls are 0.7 away, where the Gaussian stays below exp(-0.7^2/(2 s^2)) < 1e-8. The error in space is
    negligible, so the test measures the error in time: first order in a step proportional to h^2."""
    width = "(0.01+4*t)"
    square = "+".join(f"({a}-0.5)^2" for a in AXES[:dims])
    exact = f"1+(0.01/{width})^{dims / 2}*exp(-({square})/(2*{width}))"
    errors = []
    for cells in (32, 64, 128):
        step, first = step_of(radius, dims, cells), step_of(radius, dims, 32)
        case = {
            "precision": precision,
            "grid": {
                "points": [cells * 3 // 2 + 1] * dims,
                "lower": [-0.25] * dims,
                "spacing": [1.0 / cells] * dims,
            },
            "material": MATERIAL,
            "stencil": {"radius": radius},
            "initial": {"expression": exact},
            "boundary": {"all": {"type": "fixed"}},
            "time": {"end": math.ceil(0.0006 / first) * (cells // 32) ** 2 * step, "step": step},
            "exact": {"expression": exact},
        }
        errors.append(run(tmp_path, case, f"cells{cells}").error())
    assert_order(errors, 1.9, 2.1)
