"""The textbook's solids in 1D, 2D and 3D: Gaussian, half-space, constant flux, plane wall.

Each is run on three grids with a step of (3/8)/dims of h^2/alpha, so the whole is of second order. Solutions in several
dimensions are products or sums of those in one (Carslaw and Jaeger, 2nd ed., 1.15).
"""

import math

import pytest
from helpers import AXES, ROUNDOFF, assert_order, run
from scipy.optimize import brentq

CONDUCTIVITY, CAPACITY, ALPHA = 4.0, 2.0, 2.0
MATERIAL = {"conductivity": CONDUCTIVITY, "density": 8.0, "specific_heat": 0.25}
PRECISIONS = ["double", "float"]
DIMS = [1, 2, 3]


def steps(dims, cells, coarsest, end):
    """(step, end): a step proportional to h^2, and an end near the given one that is a multiple of it."""
    step = 0.375 / dims / ALPHA / cells**2
    first = 0.375 / dims / ALPHA / coarsest**2
    return step, math.ceil(end / first) * (cells // coarsest) ** 2 * step


def errors_of(directory, dims, coarsest, end, precision, lower=0.0, **settings):
    """The errors on the unit cube from `lower` on, with 1, 2 and 4 times `coarsest` cells an axis."""
    errors = []
    for cells in (coarsest, 2 * coarsest, 4 * coarsest):
        step, last = steps(dims, cells, coarsest, end)
        wraps = settings["boundary"].get("all", {}).get("type") == "periodic"
        points = cells if wraps else cells + 1
        grid = {"points": [points] * dims, "lower": [lower] * dims, "spacing": [1.0 / cells] * dims}
        case = {"precision": precision, "grid": grid, "material": MATERIAL, **settings}
        case["time"] = {"end": last, "step": step}
        errors.append(run(directory, case, f"cells{cells}").error())
    return errors


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("dims", DIMS)
def test_periodic_gaussian(tmp_path, dims, precision):
    """Its width is s^2 = s0^2 + 2 alpha t. The images one period to each side are enough, since exp(-1.5^2/(2 s^2)) is
    1e-15 for the widest."""
    centre = {"x": 0.125, "y": -0.0625, "z": 0.03125}
    width = "(0.015+4*t)"

    def images(a):
        each = [f"exp(-({a}-({centre[a] + m}))^2/(2*{width}))" for m in (-1, 0, 1)]
        return f"sqrt(0.015/{width})*(" + "+".join(each) + ")"

    exact = "1+" + "*".join(images(a) for a in AXES[:dims])
    coarsest = {1: 32, 2: 16, 3: 16}[dims]
    errors = errors_of(
        tmp_path,
        dims,
        coarsest,
        0.0035,
        precision,
        lower=-0.5,
        boundary={"all": {"type": "periodic"}},
        initial={"expression": exact},
        exact={"expression": exact},
    )
    assert_order(errors, 1.9, 2.1)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("dims", DIMS)
def test_half_space_suddenly_cooled(tmp_path, dims, precision):
    """T = Ts + (T0 - Ts) prod erf(a/(2 sqrt(alpha t))), starting with the jump at t = 0 (Carslaw and Jaeger, 2.4). The
    far walls are 5 diffusion lengths away, where erfc is 1e-12. (1e-300 avoids 0/0 at t = 0.)"""
    root = f"(2*sqrt({ALPHA}*t+1e-300))"
    if dims == 1:
        exact = f"3+(1-3)*erfc(x/{root})"
    else:
        exact = "1+(3-1)*" + "*".join(f"erf({a}/{root})" for a in AXES[:dims])
    boundary = {"all": {"type": "reflective"}}
    boundary.update({f"{a}_min": {"type": "dirichlet", "value": 1.0} for a in AXES[:dims]})
    errors = errors_of(
        tmp_path,
        dims,
        {1: 32, 2: 24, 3: 12}[dims],
        0.0045,
        precision,
        boundary=boundary,
        initial={"value": 3.0},
        exact={"expression": exact},
    )
    assert_order(errors, 1.9, 2.1)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("dims", DIMS)
def test_half_space_heated_by_a_constant_flux(tmp_path, dims, precision):
    """T - T0 = (q/k) (2 sqrt(alpha t/pi) exp(-x^2/(4 alpha t)) - x erfc(x/(2 sqrt(alpha t)))) (Carslaw and Jaeger, 2.9),
    from the cold start, with a different flux through each of the near walls."""
    q = {"x": 24.0, "y": -16.0, "z": 40.0}  # W/m^2, inward
    at = f"({ALPHA}*t+1e-300)"
    rises = [
        f"({q[a] / CONDUCTIVITY})*(2*sqrt({at}/pi)*exp(-{a}^2/(4*{at}))-{a}*erfc({a}/(2*sqrt({at}))))"
        for a in AXES[:dims]
    ]
    boundary = {"all": {"type": "reflective"}}
    boundary.update({f"{a}_min": {"type": "neumann", "flux": -q[a]} for a in AXES[:dims]})
    errors = errors_of(
        tmp_path,
        dims,
        {1: 32, 2: 24, 3: 12}[dims],
        0.0045,
        precision,
        boundary=boundary,
        initial={"value": 0.5},
        exact={"expression": "0.5+" + "+".join(rises)},
    )
    assert_order(errors, 1.9, 2.1)


def plane_wall(axis, biot):
    """Six terms of the series for a wall insulated at 0 and convecting at 1 (Incropera, 5.5), uniform at first. From
    alpha t = 0.1 the seventh is below exp(-35)."""
    terms = []
    for n in range(6):
        zeta = brentq(lambda z: z * math.sin(z) - biot * math.cos(z), n * math.pi, n * math.pi + math.pi / 2)
        weight = 4 * math.sin(zeta) / (2 * zeta + math.sin(2 * zeta))
        terms.append(f"({weight!r})*cos({zeta!r}*{axis})*exp(-{zeta**2 * ALPHA!r}*t)")
    return "(" + "+".join(terms) + ")"


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("dims", DIMS)
def test_plane_wall_quenched(tmp_path, dims, precision):
    """A wall, bar or block at 3, put into a bath at 1, with a different coefficient at each pair of sides."""
    biot = {"x": 1.0, "y": 0.5, "z": 2.0}
    boundary = {"all": {"type": "reflective"}}
    for a in AXES[:dims]:
        boundary[f"{a}_max"] = {"type": "robin", "h": biot[a] * CONDUCTIVITY, "ambient": 1.0}
    errors = errors_of(
        tmp_path,
        dims,
        # in float the error with four times as many cells must stay above the rounding of 1e-6
        {("double", 1): 16, ("double", 2): 12}.get((precision, dims), 6),
        0.05,
        precision,
        boundary=boundary,
        initial={"value": 3.0},
        exact={"expression": "1+2*" + "*".join(plane_wall(a, biot[a]) for a in AXES[:dims])},
    )
    assert_order(errors, 1.9, 2.1)


QUADRATIC = {"x": ("x-0.75*x^2", "(1-1.5*x)", -1.5), "y": ("0.5*y^2+y", "(y+1)", 1.0), "z": ("z^2-z", "(2*z-1)", 2.0)}


def at_wall(expression, axis, side):
    return expression.replace(axis, {"min": "0.0", "max": "1.0"}[side])


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("dims", DIMS)
@pytest.mark.parametrize(
    "kind, radius",
    # for these two the ghosts beyond the first layer are not exact for a curved profile
    [("dirichlet", 1), ("constant", 1)]
    + [(kind, radius) for kind in ("flux", "gradient", "robin", "fixed") for radius in (1, 2, 3)],
)
def test_steady_wall_that_makes_heat_is_exact(tmp_path, kind, dims, radius, precision):
    """Differences of a quadratic are exact, also across the wall: with a uniform source the field stays, to rounding."""
    field = "+".join(["2"] + [QUADRATIC[a][0] for a in AXES[:dims]])
    boundary = {}
    for a in AXES[:dims]:
        for side, sign in (("min", "-"), ("max", "")):
            outward = f"({sign}{at_wall(QUADRATIC[a][1], a, side)})"
            boundary[f"{a}_{side}"] = {
                "flux": {"type": "neumann", "flux": f"-{CONDUCTIVITY}*{outward}"},
                "gradient": {"type": "neumann", "gradient": outward},
                "robin": {"type": "robin", "h": 8.0, "ambient": f"{field}+{CONDUCTIVITY / 8.0}*{outward}"},
                "fixed": {"type": "fixed"},
                "dirichlet": {"type": "dirichlet", "value": field},
                "constant": {"type": "constant", "value": at_wall(field, a, side)},
            }[kind]
    shift = 1 if kind == "constant" else 0
    sweeps, cells = 100, 10
    curvature = sum(QUADRATIC[a][2] for a in AXES[:dims])
    case = {
        "precision": precision,
        "grid": {"points": [cells + 1 - 2 * shift] * dims, "lower": [shift * 0.1] * dims, "spacing": [0.1] * dims},
        "material": MATERIAL,
        "stencil": {"radius": radius},
        "initial": {"expression": field},
        "source": {"value": -CONDUCTIVITY * curvature},
        "boundary": boundary,
        "time": {"sweeps": sweeps},
        "exact": {"expression": field},
    }
    # A sweep rounds 6 R + 1 terms and the ghosts, at most 4 each; the coefficients' absolute values sum to at most 3.
    # At worst the sweep's modes do not damp these errors.
    terms = 2 * dims * radius + 7
    assert run(tmp_path, case).error() <= sweeps * terms * ROUNDOFF[precision] * 4.0 * 3.0


@pytest.mark.parametrize("dims", DIMS)
def test_steady_state_between_two_baths(tmp_path, dims):
    """From a uniform start to the straight line of the wall: k B = h1 (T(0) - T1) = h2 (T2 - T(1))."""
    h1, h2, cold, hot = 8.0, 2.0, 1.0, 5.0
    slope = (hot - cold) / (1.0 + CONDUCTIVITY / h1 + CONDUCTIVITY / h2)
    boundary = {
        "all": {"type": "reflective"},
        "x_min": {"type": "robin", "h": h1, "ambient": cold},
        "x_max": {"type": "robin", "h": h2, "ambient": hot},
    }
    case = {
        "grid": {"points": [9] * dims, "spacing": [0.125] * dims},
        "material": MATERIAL,
        "initial": {"value": 2.0},
        "boundary": boundary,
        "steady": {"tolerance": 1e-13},
        "exact": {"expression": f"{cold + CONDUCTIVITY * slope / h1!r}+{slope!r}*x"},
    }
    # the remainder decays by 1 - rate*step a sweep, with rate*step > 1e-3 here, so it is below 1e3 times the change
    assert run(tmp_path, case).error() <= 1e3 * 1e-13 + 1e-12
