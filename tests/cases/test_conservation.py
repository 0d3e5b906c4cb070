"""Properties that hold for any initial field: heat is kept, no new extremes appear, mirror images stay so."""

import math

import h5py
import numpy as np
import pytest
from helpers import AXES, ROUNDOFF, run

CONDUCTIVITY, CAPACITY, ALPHA = 4.0, 2.0, 2.0
MATERIAL = {"conductivity": CONDUCTIVITY, "density": 8.0, "specific_heat": 0.25}
SHAPE = {1: (41,), 2: (17, 23), 3: (9, 11, 13)}  # [z][y][x]
SPACING = {"x": 0.125, "y": 0.25, "z": 0.5}
SWEEPS = 64
ALL_STARS = [(dims, radius) for dims in (1, 2, 3) for radius in (1, 2, 3)]


def case(directory, dims, radius, precision, start, boundary, safety=0.9, **more):
    with h5py.File(directory / "start.h5", "w") as f:
        f["temperature"] = start
    return {
        "precision": precision,
        "grid": {"points": list(start.shape[::-1]), "spacing": [SPACING[a] for a in AXES[:dims]]},
        "material": MATERIAL,
        "stencil": {"radius": radius},
        "initial": {"file": "start.h5"},
        "boundary": boundary,
        "time": {"sweeps": SWEEPS, "safety": safety},
        "output": {"every": SWEEPS // 8},
        **more,
    }


def random_field(dims, seed=1):
    """Values from 0 to 1 with 20 bits, so they are exact in float too."""
    return np.random.default_rng(seed).integers(0, 2**20 + 1, SHAPE[dims]) / 2.0**20


def volume(result):
    """The volume of each node, m^dims."""
    cell = math.prod(SPACING[a] for a in AXES[: result.dims])
    return cell * result.weights()


def lost_to_rounding(result, terms, size):
    """Bound on the heat that rounding adds or removes: every sweep rounds a node `terms` + 2 times, each time by u of at
    most `size`, and the coefficients are rounded by u of themselves."""
    sweeps = result.attributes["sweeps"]
    return sweeps * (2 * terms + 2) * ROUNDOFF[result.settings["precision"]] * size * volume(result).sum() * CAPACITY


def heat(result, field):
    return CAPACITY * float((volume(result) * field.astype(float)).sum())


INSULATED = {
    "reflective": {"type": "reflective"},
    "periodic": {"type": "periodic"},
    "no flux": {"type": "neumann", "flux": 0.0},
    "no gradient": {"type": "neumann", "gradient": 0.0},
    "no convection": {"type": "robin", "h": 0.0, "ambient": 9.0},
    "clamp": {"type": "clamp"},
}


@pytest.mark.parametrize("precision", ["double", "float"])
@pytest.mark.parametrize("dims, radius", ALL_STARS)
@pytest.mark.parametrize("wall", [wall for wall in INSULATED if wall != "clamp"])
def test_insulated_walls_keep_the_heat(tmp_path, wall, dims, radius, precision):
    """With mirrors or periodic axes the grid is part of an infinite one, on which a sweep keeps the sum; nodes in a
    mirror count half."""
    heat_stays(tmp_path, wall, dims, radius, precision)


@pytest.mark.parametrize("precision", ["double", "float"])
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_clamp_keeps_the_heat(tmp_path, dims, precision):
    """Only with radius 1: the second ghost of clamp is not an image."""
    heat_stays(tmp_path, "clamp", dims, 1, precision)


def heat_stays(tmp_path, wall, dims, radius, precision):
    settings = case(tmp_path, dims, radius, precision, random_field(dims), {"all": INSULATED[wall]})
    result = run(tmp_path, settings)
    before, after = heat(result, result.first), heat(result, result.field)
    # the coefficients' absolute values sum to at most 3, the field stays below 2
    bound = lost_to_rounding(result, 2 * dims * radius + 1, 3 * 2)
    assert abs(after - before) <= bound
    assert bound < 2e-2 * before  # the bound is sharp enough: a wrong wall loses more
    # the history agrees; it is summed in double, in another order
    assert result.history["heat"][0] == pytest.approx(before, rel=1e-13)
    assert result.history["heat"][-1] == pytest.approx(after, rel=1e-13)
    assert np.all(np.abs(result.history["heat"] - before) <= bound)
    assert result.history["mean"][-1] == pytest.approx(after / CAPACITY / volume(result).sum(), rel=1e-13)
    # the field has changed: heat has spread
    assert np.ptp(result.field) < 0.8 * np.ptp(result.first)


@pytest.mark.parametrize("dims, radius", ALL_STARS)
def test_coefficients_in_float_add_up_to_one(tmp_path, dims, radius):
    """Otherwise every sweep would multiply the mean by their sum."""
    settings = case(tmp_path, dims, radius, "float", random_field(dims), {"all": INSULATED["periodic"]})
    settings["grid"]["spacing"] = [0.125] * dims
    c = run(tmp_path, settings).attributes["coefficients"]
    assert np.all(c.astype(np.float32) == c)
    assert math.fsum(c) == 1.0


def test_a_long_run_in_float_keeps_the_mean(tmp_path):
    """With the offset of absolute temperatures. When coefficients were rounded one by one, 0.15 K was lost here. The
    remaining 0.02 K are roundings of the sums, up to 1.5e-5 K a sweep, which mostly cancel."""
    settings = {
        "precision": "float",
        "grid": {"points": [101], "upper": [1.0]},
        "material": {"diffusivity": 1.0},
        "initial": {"expression": "300 + 100*cos(pi*x)"},
        "boundary": {"all": {"type": "reflective"}},
        "time": {"sweeps": 20000},
    }
    mean = run(tmp_path, settings).history["mean"]
    assert abs(mean[-1] - mean[0]) < 0.05


@pytest.mark.parametrize("precision", ["double", "float"])
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_what_flows_in_is_what_is_there(tmp_path, dims, precision):
    """Fluxes through the walls and a source in the body: the balance closes to rounding."""
    flux = {"x_min": -3.0, "x_max": 1.0, "y_min": 2.0, "y_max": -5.0, "z_min": -0.5, "z_max": 0.25}
    boundary = {f"{a}_{s}": {"type": "neumann", "flux": flux[f"{a}_{s}"]} for a in AXES[:dims] for s in ("min", "max")}
    settings = case(tmp_path, dims, 1, precision, random_field(dims), boundary, source={"value": 0.75})
    result = run(tmp_path, settings)
    shares = volume(result)
    inward = 0.75 * shares.sum()
    for axis, a in enumerate(AXES[:dims]):
        layer = np.moveaxis(shares, dims - 1 - axis, 0)[1]  # an inner layer: area times spacing
        inward -= (flux[f"{a}_min"] + flux[f"{a}_max"]) * layer.sum() / SPACING[a]
    rise = heat(result, result.field) - heat(result, result.first)
    expected = inward * result.time[-1]
    bound = lost_to_rounding(result, 2 * dims + 2, 3 * np.abs(result.field).max())
    assert abs(rise - expected) <= bound
    assert bound < 0.1 * abs(expected)


DRIVEN = {
    "fixed": {"type": "fixed"},
    "dirichlet": {"type": "dirichlet", "value": "0.5+0.5*sin(40*t)"},
    "robin": {"type": "robin", "h": 16.0, "ambient": "0.5-0.5*cos(40*t)"},
    "constant": {"type": "constant", "value": "0.5+0.5*cos(40*t)"},
    **INSULATED,
}


@pytest.mark.parametrize("precision", ["double", "float"])
@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("wall", DRIVEN)
def test_no_new_extremes(tmp_path, wall, dims, precision):
    """A field from 0 to 1, walls that drive to values from 0 to 1, no negative coefficients: everything stays within.

    The step is 7/16 (3D: 3/8) of 1/(2 alpha sum 1/h^2), and all numbers are dyadic, so the coefficients are exact and
    sum to exactly 1: no partial sum of them times a field within 0..1 can be rounded beyond 0..1. Only convection's
    ghosts have roundings of their own, some 3 of size 3 a sweep; their share, h dx/k = 1/2 at most in x, leaves the
    edge's coefficient above 0."""
    spacing, step = [0.125] * dims, 7 / 16 / (2 * ALPHA * dims / 0.125**2)
    if dims == 3:
        step = 3 / 8 / (2 * ALPHA * dims / 0.125**2)  # 1/16 to each neighbour
    start = np.round(random_field(dims))  # zeros and ones
    settings = case(tmp_path, dims, 1, precision, start, {"all": DRIVEN[wall]})
    settings["grid"]["spacing"] = spacing
    settings["time"] = {"sweeps": SWEEPS, "step": step}
    result = run(tmp_path, settings)
    slack = 9 * SWEEPS * ROUNDOFF[precision] if "robin" in DRIVEN[wall]["type"] else 0.0
    assert result.first.min() == 0.0 and result.first.max() == 1.0
    assert result.history["min"].min() >= -slack and result.history["max"].max() <= 1.0 + slack
    assert result.field.min() >= -slack and result.field.max() <= 1.0 + slack
    if wall in INSULATED:  # the extremes never move outwards
        assert np.all(np.diff(result.history["max"]) <= slack)
        assert np.all(np.diff(result.history["min"]) >= -slack)


@pytest.mark.parametrize("radius", [2, 3])
def test_higher_orders_overshoot_a_jump_by_some_percent(tmp_path, radius):
    """Not all their coefficients are positive (docs/numerics.md). It also shows that the test above would see an
    overshoot."""
    start = np.zeros(41)
    start[20:] = 1.0
    settings = case(tmp_path, 1, radius, "double", start, {"all": {"type": "reflective"}}, safety=0.2)
    settings["output"] = {"every": 1}
    over = run(tmp_path, settings).history["max"].max() - 1.0
    assert 0.005 < over < 0.1


SYMMETRIC = ["fixed", "dirichlet", "neumann", "robin", "periodic", "reflective", "clamp", "constant"]
MEMBERS = {
    "dirichlet": {"value": 0.25},
    "neumann": {"gradient": 0.375},
    "robin": {"h": 2.0, "ambient": 0.75},
    "constant": {"value": 0.5},
}


@pytest.mark.parametrize("precision", ["double", "float"])
@pytest.mark.parametrize("dims, radius", ALL_STARS)
@pytest.mark.parametrize("kind", SYMMETRIC)
def test_mirror_images_stay_mirror_images(tmp_path, kind, dims, radius, precision):
    """In every axis. Not to the bit: neighbours are added from the lower side to the upper, so the image is added up in
    another order. Each sweep separates the two by 2 (terms + 4) roundings of the terms' sizes. A sweep does not amplify
    earlier differences by more than the square root of the number of nodes, by its largest mode."""
    start = random_field(dims)
    for axis in range(dims):
        start = (start + np.flip(start, axis)) / 2.0
    settings = case(tmp_path, dims, radius, precision, start, {"all": {"type": kind, **MEMBERS.get(kind, {})}})
    result = run(tmp_path, settings)
    terms, size = 2 * dims * radius + 1, 3 * max(1.0, np.abs(result.field).max())
    bound = SWEEPS * 2 * (terms + 4) * ROUNDOFF[precision] * size * math.sqrt(start.size)
    assert bound < 0.05
    for axis in range(dims):
        assert np.abs(result.field.astype(float) - np.flip(result.field, axis)).max() <= bound


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("kind", SYMMETRIC)
def test_without_rounding_they_stay_so_to_the_bit(tmp_path, kind, dims):
    """Six sweeps of 1/8 to each neighbour, on whole numbers: in double every sum is exact, in any order."""
    start = np.random.default_rng(5).integers(0, 100, SHAPE[dims]).astype(float)
    for axis in range(dims):
        start = start + np.flip(start, axis)
    settings = case(tmp_path, dims, 1, "double", start, {"all": {"type": kind, **MEMBERS.get(kind, {})}})
    settings["grid"]["spacing"] = [0.125] * dims
    settings["time"] = {"sweeps": 6, "step": 0.125**2 / 8 / ALPHA}
    result = run(tmp_path, settings)
    for axis in range(dims):
        assert np.array_equal(result.field, np.flip(result.field, axis))


@pytest.mark.parametrize("radius", [1, 2, 3])
@pytest.mark.parametrize("kind", SYMMETRIC)
def test_the_axes_are_alike(tmp_path, kind, radius):
    """Permuting the axes of the body, x to y to z to x, permutes the field, to rounding."""
    start = np.random.default_rng(6).uniform(0.0, 1.0, (9, 11, 13))
    boundary = {"all": {"type": kind, **MEMBERS.get(kind, {})}}
    settings = case(tmp_path, 3, radius, "double", start, boundary)
    straight = run(tmp_path, settings, "straight")
    turned = case(tmp_path, 3, radius, "double", np.transpose(start, (2, 0, 1)).copy(), boundary)
    turned["grid"]["spacing"] = [SPACING["y"], SPACING["z"], SPACING["x"]]  # the new x is the old y, ...
    turned = run(tmp_path, turned, "turned")
    size = 3 * max(1.0, np.abs(straight.field).max())
    bound = SWEEPS * 2 * (6 * radius + 5) * ROUNDOFF["double"] * size * math.sqrt(start.size)
    assert np.abs(np.transpose(straight.field, (2, 0, 1)) - turned.field).max() <= bound


@pytest.mark.parametrize("faces, cells", [((0.25, 0.5), 26), ((0.245, 0.495), 25), ((0.0, 0.5), 50.5), ((0.251, 0.499), 24)])
def test_a_region_has_the_heat_of_its_nodes(tmp_path, faces, cells):
    """Half a cell more at each face on a node; none at a face halfway, or at one on a wall, whose node is half a cell."""
    region = {"shape": "box", "lower": [faces[0]], "upper": [faces[1]], "value": 100.0}
    settings = {
        "grid": {"points": [101], "upper": [1.0]},
        "material": {"diffusivity": 1e-4},
        "initial": {"value": 0.0, "regions": [region]},
        "boundary": {"all": {"type": "reflective"}},
        "time": {"sweeps": 1},
    }
    run(tmp_path, settings)
    with h5py.File(tmp_path / "case.h5") as f:
        assert f["history/heat"][0] == pytest.approx(cells, rel=1e-12)
