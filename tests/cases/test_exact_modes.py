"""Every kind of boundary against an exact solution, in 1D, 2D and 3D, in double and float, on three grids.

One family of solutions serves all of them, on the unit cube with the walls where each kind puts them: a linear
background, if the kind lets heat through, plus a product of one decaying mode along each axis,

    T = T0 + G.x + A prod_a f_a(x_a) exp(-alpha (k_x^2 + k_y^2 + k_z^2) t).

The step is (3/8)/dims of h^2/alpha on every grid, so the errors in time and space both fall with h^2, and the whole is
of second order. (With 1/6 instead of 3/8 the two would cancel.)
"""

import math

import pytest
from helpers import AXES, assert_order, run, unit_grid
from scipy.optimize import brentq

# alpha = 2; the coefficients are exact in float on grids of 2^n cells
MATERIAL = {"conductivity": 4.0, "density": 8.0, "specific_heat": 0.25}
CONDUCTIVITY, ALPHA = 4.0, 2.0
H_MIN, H_MAX = 6.0, 10.0  # W/(m^2 K): Biot numbers 1.5 and 2.5
SLOPE = {"x": 0.75, "y": -0.5, "z": 0.3125}


def robin_root():
    """The smallest root of zeta (B1 + B2) cos zeta = (zeta^2 - B1 B2) sin zeta (Carslaw and Jaeger, 3.9)."""
    b1, b2 = H_MIN / CONDUCTIVITY, H_MAX / CONDUCTIVITY
    return brentq(lambda z: z * (b1 + b2) * math.cos(z) - (z * z - b1 * b2) * math.sin(z), 0.5, math.pi)


ZETA = robin_root()

# (mode along one axis, its wave number, whether there is a linear background)
MODES = {
    "fixed": ("sin(pi*{a})", math.pi, True),
    "dirichlet": ("sin(pi*{a})", math.pi, True),
    "constant": ("sin(pi*{a})", math.pi, True),
    "flux": ("cos(pi*{a})", math.pi, True),
    "gradient": ("cos(pi*{a})", math.pi, True),
    "reflective": ("cos(pi*{a})", math.pi, False),
    "clamp": ("cos(pi*{a})", math.pi, False),
    "periodic": ("cos(2*pi*{a}+0.7)", 2 * math.pi, False),
    "robin": (f"(cos({ZETA!r}*{{a}})+{H_MIN / CONDUCTIVITY / ZETA!r}*sin({ZETA!r}*{{a}}))", ZETA, True),
}


def face(kind, axis, side, background):
    """One face for T = background + modes; `background` is an expression of x, y, z."""
    at = background.replace(axis, {"min": "0.0", "max": "1.0"}[side])
    outward = SLOPE[axis] * {"min": -1.0, "max": 1.0}[side]  # dT/dn of the background
    if kind == "dirichlet":
        return {"type": "dirichlet", "value": background}
    if kind == "constant":
        return {"type": "constant", "value": at}
    if kind == "flux":
        return {"type": "neumann", "flux": -CONDUCTIVITY * outward}
    if kind == "gradient":
        return {"type": "neumann", "gradient": outward}
    if kind == "robin":
        h = {"min": H_MIN, "max": H_MAX}[side]
        return {"type": "robin", "h": h, "ambient": f"{at}+{CONDUCTIVITY * outward / h!r}"}
    return {"type": kind}


def case(kinds, cells, coarsest, precision, kernel="auto"):
    """The run with kinds[a] on both faces of axis a, for 0.5 of the mode's decay time."""
    dims = len(kinds)
    sloped = [a for a, kind in zip(AXES, kinds) if MODES[kind][2]]
    background = "+".join(["1.5"] + [f"({SLOPE[a]})*{a}" for a in sloped])
    boundary = {}
    for axis, kind in zip(AXES, kinds):
        for side in ("min", "max"):
            boundary[f"{axis}_{side}"] = face(kind, axis, side, background)
    mode = "*".join(MODES[kind][0].format(a=a) for a, kind in zip(AXES, kinds))
    rate = ALPHA * sum(MODES[kind][1] ** 2 for kind in kinds)
    step = 0.375 / dims / ALPHA / cells**2
    sweeps = round(0.5 / rate / (0.375 / dims / ALPHA / coarsest**2)) * (cells // coarsest) ** 2
    return {
        "precision": precision,
        "grid": unit_grid(cells, boundary, dims),
        "material": MATERIAL,
        "initial": {"expression": f"{background}+0.5*{mode}"},
        "boundary": boundary,
        "time": {"end": sweeps * step, "step": step},
        "solver": {"kernel": kernel},
        "exact": {"expression": f"{background}+0.5*{mode}*exp(-{rate!r}*t)"},
    }


def errors_of(directory, kinds, coarsest, precision, kernel="auto"):
    grids = [coarsest, 2 * coarsest, 4 * coarsest]
    return [run(directory, case(kinds, n, coarsest, precision, kernel), f"cells{n}").error() for n in grids]


# Cells of the coarsest grid. In float it must be coarse: with four times as many cells the truncation error, 1e-4 or
# more, must be far above the rounding of some hundred sweeps. Each sweep leaves half an ulp of 2, 1e-7, that decays
# with the modes.
COARSEST = {"double": 16, "float": 8}


@pytest.mark.parametrize("precision", ["double", "float"])
@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("kind", MODES)
def test_second_order(tmp_path, kind, dims, precision):
    coarsest = COARSEST[precision] if dims < 3 else 8
    if kind == "periodic":
        coarsest = 16  # its wavelength is half as long
    assert_order(errors_of(tmp_path, [kind] * dims, coarsest, precision), 1.9, 2.1, kind)
