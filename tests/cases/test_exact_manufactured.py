"""Manufactured solutions: a source in space and time, and walls whose values vary over the wall and in time.

Each is run on three grids with a step of (3/8)/dims of h^2/alpha, so the whole is of second order. `wave` has no
symmetry, so it tests every term of the equation and every face:

    T = 2 + exp(-8 t) sin(x + 0.7 y - 0.4 z + 0.3)
"""

import math
import re

import numpy as np
import pytest
from helpers import AXES, assert_order, run, unit_grid

CONDUCTIVITY, CAPACITY, ALPHA = 4.0, 2.0, 2.0
MATERIAL = {"conductivity": CONDUCTIVITY, "density": 8.0, "specific_heat": 0.25}
SLOPES = {"x": 1.0, "y": 0.7, "z": -0.4}
RATE = 8.0
H = 6.0


def put(expression, axis, value):
    """The expression with the value put in for one axis."""
    return re.sub(rf"\b{axis}\b", f"({value})", expression)


def time_of(cells, coarsest, dims, end):
    step = 0.375 / dims / ALPHA / cells**2
    first = 0.375 / dims / ALPHA / coarsest**2
    return {"end": math.ceil(end / first) * (cells // coarsest) ** 2 * step, "step": step}


def face(kind, axis, side, field, slope):
    """One face for `field` with d(field)/d(axis) = `slope`, both expressions of x, y, z, t."""
    wall, sign = {"min": ("0.0", "-"), "max": ("1.0", "")}[side]
    outward = f"({sign}{slope})"
    return {
        "dirichlet": {"type": "dirichlet", "value": field},
        # the wall is one spacing outside the edge node, but its expression is evaluated at the edge node
        "constant": {"type": "constant", "value": put(field, axis, wall)},
        "gradient": {"type": "neumann", "gradient": outward},
        "flux": {"type": "neumann", "flux": f"-{CONDUCTIVITY}*{outward}"},
        "robin": {"type": "robin", "h": H, "ambient": f"{field}+{CONDUCTIVITY / H!r}*{outward}"},
        "reflective": {"type": "reflective"},
        "clamp": {"type": "clamp"},
        "periodic": {"type": "periodic"},
    }[kind]


def wave(dims):
    """(T, its slopes, the required source in W/m^3)"""
    phase = "(" + "+".join(f"({SLOPES[a]})*{a}" for a in AXES[:dims]) + "+0.3)"
    square = sum(SLOPES[a] ** 2 for a in AXES[:dims])
    source = f"{CAPACITY * (ALPHA * square - RATE)!r}*exp(-{RATE}*t)*sin{phase}"
    slopes = {a: f"({SLOPES[a]})*exp(-{RATE}*t)*cos{phase}" for a in AXES[:dims]}
    return f"2+exp(-{RATE}*t)*sin{phase}", slopes, source


def wave_case(kinds, cells, coarsest, precision, end, kernel="auto"):
    dims = len(kinds)
    field, slopes, source = wave(dims)
    boundary = {
        f"{a}_{side}": face(kind, a, side, field, f"({slopes[a]})")
        for a, pair in zip(AXES, kinds)
        for side, kind in zip(("min", "max"), pair)
    }
    return {
        "precision": precision,
        "grid": unit_grid(cells, boundary, dims),
        "material": MATERIAL,
        "initial": {"expression": field},
        "source": {"expression": source},
        "boundary": boundary,
        "time": time_of(cells, coarsest, dims, end),
        "solver": {"kernel": kernel},
        "exact": {"expression": field},
    }


# Axis a takes the pair number n + a: over all n each pair is tested on each axis.
PAIRS = [
    ("dirichlet", "robin"),
    ("flux", "constant"),
    ("gradient", "dirichlet"),
    ("robin", "flux"),
    ("constant", "gradient"),
]

# Cells of the coarsest grid. With four times as many cells the error is 2e-5 or more. Float needs coarser grids: the
# error must be far above the 1e-6 that some hundred roundings of 2 leave.
COARSEST = {("double", 1): 16, ("double", 2): 8, ("double", 3): 6, ("float", 1): 6, ("float", 2): 6, ("float", 3): 4}


@pytest.mark.parametrize("precision", ["double", "float"])
@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("first", range(len(PAIRS)))
def test_mixed_walls_in_space_and_time(tmp_path, first, dims, precision):
    kinds = [PAIRS[(first + a) % len(PAIRS)] for a in range(dims)]
    coarsest = COARSEST[precision, dims]
    errors = []
    for cells in (coarsest, 2 * coarsest, 4 * coarsest):
        case = wave_case(kinds, cells, coarsest, precision, 0.06)
        errors.append(run(tmp_path, case, f"cells{cells}").error())
    assert_order(errors, 1.9, 2.1, str(kinds))


@pytest.mark.parametrize("precision", ["double", "float"])
@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("kind", ["dirichlet", "constant"])
def test_one_kind_all_round(tmp_path, kind, dims, precision):
    coarsest = COARSEST[precision, dims]
    errors = []
    for cells in (coarsest, 2 * coarsest, 4 * coarsest):
        case = wave_case([(kind, kind)] * dims, cells, coarsest, precision, 0.06)
        errors.append(run(tmp_path, case, f"cells{cells}").error())
    assert_order(errors, 1.9, 2.1, kind)


def woven_case(roles, cells, coarsest, precision):
    """T = 2 + exp(-8 t) prod f_a: whole periods of a cosine along periodic axes, a cosine with zero slope at reflective
    and clamp walls, and sin(a + 0.3) between a dirichlet and a robin wall."""
    dims = len(roles)
    shapes = {
        "periodic": ("cos(2*pi*{a}+0.7)", "0", 2 * math.pi),
        "clamp": ("cos(pi*{a})", "0", math.pi),
        "reflective": ("cos(pi*{a})", "0", math.pi),
        "open": ("sin({a}+0.3)", "cos({a}+0.3)", 1.0),
    }
    factors = [shapes[role][0].format(a=a) for a, role in zip(AXES, roles)]
    product = f"exp(-{RATE}*t)*" + "*".join(factors)
    square = sum(shapes[role][2] ** 2 for role in roles)
    boundary = {}
    for n, (axis, role) in enumerate(zip(AXES, roles)):
        slope = "*".join([f"exp(-{RATE}*t)", shapes[role][1].format(a=axis)] + factors[:n] + factors[n + 1 :])
        for side, opening in (("min", "dirichlet"), ("max", "robin")):
            kind = opening if role == "open" else role
            boundary[f"{axis}_{side}"] = face(kind, axis, side, f"2+{product}", f"({slope})")
    return {
        "precision": precision,
        "grid": unit_grid(cells, boundary, dims),
        "material": MATERIAL,
        "initial": {"expression": f"2+{product}"},
        "source": {"expression": f"{CAPACITY * (ALPHA * square - RATE)!r}*{product}"},
        "boundary": boundary,
        "time": time_of(cells, coarsest, dims, 0.012),
        "exact": {"expression": f"2+{product}"},
    }


@pytest.mark.parametrize("precision", ["double", "float"])
@pytest.mark.parametrize(
    "roles",
    [
        ("periodic", "open"),
        ("open", "clamp"),
        ("reflective", "periodic"),
        ("periodic", "clamp", "open"),
        ("open", "periodic", "reflective"),
        ("clamp", "open", "periodic"),
    ],
    ids="-".join,
)
def test_woven_axes(tmp_path, roles, precision):
    errors = []
    for cells in (8, 16, 32):
        errors.append(run(tmp_path, woven_case(roles, cells, 8, precision), f"cells{cells}").error())
    assert_order(errors, 1.9, 2.1, str(roles))


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_kernels_agree(tmp_path, dims):
    """All kernels do the same operations in the same order, so they agree to the bit. The exception is `reference` in
    float: it adds in double, so it differs by roundings. All are of second order."""
    kinds = [PAIRS[a] for a in range(dims)]
    coarsest = COARSEST["float", dims]
    fields = {}
    for precision in ("double", "float"):
        for kernel in ("reference", "openmp", "wavefront"):
            errors = []
            for cells in (coarsest, 2 * coarsest, 4 * coarsest):
                case = wave_case(kinds, cells, coarsest, precision, 0.06, kernel)
                result = run(tmp_path, case, f"{kernel}-{precision}-{cells}")
                assert result.attributes["kernel"] == kernel
                errors.append(result.error())
            fields[precision, kernel] = result.field
            assert_order(errors, 1.9, 2.1, f"{kernel} {precision}")
    assert np.array_equal(fields["double", "reference"], fields["double", "openmp"])
    for precision in ("double", "float"):
        assert np.array_equal(fields[precision, "openmp"], fields[precision, "wavefront"])
    apart = np.abs(fields["float", "reference"] - fields["float", "openmp"].astype(float)).max()
    # each sweep rounds a field of 3 some 6 dims times; over 200 to 400 sweeps the errors add up as a random walk
    assert 0.0 < apart < 6 * dims * 3 * 2.0**-24 * math.sqrt(400)
