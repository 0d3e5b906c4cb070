"""Raw stencils with all coefficients distinct, against a direct sum in numpy.

The sum uses three rules, all from docs/numerics.md: the neighbour of each coefficient, the layers that are held, and
the ghost values outside each kind of wall. It is computed in long double.
"""

import itertools

import h5py
import numpy as np
import pytest
from helpers import AXES, ROUNDOFF, evaluate, run

SHAPE = {1: (41,), 2: (17, 23), 3: (9, 11, 19)}  # [z][y][x]: no multiple of a vector or a block
SPACING = {"x": 0.5, "y": 0.25, "z": 0.125}
CONDUCTIVITY = 2.0
SWEEPS = 3


def neighbours(dims, radius):
    """(axis, offset) of c0, c1, ...: the centre, then along x, y, z: -1, +1, then -2, +2, then -3, +3."""
    order = [(0, 0)]
    for axis in range(dims):
        for distance in range(1, radius + 1):
            order += [(axis, -distance), (axis, distance)]
    return order


def coefficients(dims, radius):
    """Distinct coefficients, some negative; their absolute values sum to 0.95, so nothing grows."""
    count = len(neighbours(dims, radius))
    sizes = np.arange(3.0, count + 3.0)
    sizes[0] = 2 * count + 3
    signs = np.where(np.arange(count) % 5 == 3, -1.0, 1.0)
    return 0.95 * signs * sizes / sizes.sum()


FACE_NUMBER = {f"{a}_{side}": n for n, (a, side) in enumerate(itertools.product(AXES, ("min", "max")))}


def face(kind, name):
    """Numbers that differ from face to face."""
    n = FACE_NUMBER[name]
    members = {
        "dirichlet": {"value": 0.25 + 0.125 * n},
        "constant": {"value": 0.5 - 0.125 * n},
        "neumann": {"gradient": 0.375 - 0.25 * n},
        "robin": {"h": 0.5 + 0.25 * n, "ambient": 0.75 - 0.25 * n},
    }
    return {"type": kind, **members.get(kind, {})}


def ghost(rule, inner, edge, distance, spacing):
    """The ghost `distance` layers outside `edge`; `inner` is as many layers inside."""
    kind = rule["type"]
    if kind == "dirichlet":
        return 2 * edge - inner
    if kind == "neumann":
        return inner + 2 * distance * spacing * rule["gradient"]
    if kind == "robin":
        return inner - 2 * distance * spacing * rule["h"] / CONDUCTIVITY * (edge - rule["ambient"])
    return {"reflective": inner, "clamp": edge, "constant": np.full_like(edge, rule.get("value", 0.0)), "fixed": edge}[
        kind
    ]


def padded(field, axis, radius, boundary):
    """`field` with `radius` ghost layers on both sides of one axis, which becomes the first."""
    rows = np.moveaxis(field, field.ndim - 1 - axis, 0)
    name = AXES[axis]
    low, high = boundary[f"{name}_min"], boundary[f"{name}_max"]
    if low["type"] == "periodic":
        return np.concatenate([rows[-radius:], rows, rows[:radius]])
    before = [ghost(low, rows[m], rows[0], m, SPACING[name]) for m in range(radius, 0, -1)]
    after = [ghost(high, rows[-1 - m], rows[-1], m, SPACING[name]) for m in range(1, radius + 1)]
    return np.concatenate([before, rows, after])


def hold(new, old, radius, boundary):
    """Restores what sweeps do not update: the fixed layers, then over them the dirichlet faces, in their order."""
    for axis in range(new.ndim):
        to, of = (np.moveaxis(f, new.ndim - 1 - axis, 0) for f in (new, old))
        if boundary[f"{AXES[axis]}_min"]["type"] == "fixed":
            to[:radius] = of[:radius]
        if boundary[f"{AXES[axis]}_max"]["type"] == "fixed":
            to[-radius:] = of[-radius:]
    for axis in range(new.ndim):
        to = np.moveaxis(new, new.ndim - 1 - axis, 0)
        for row, side in ((0, "min"), (-1, "max")):
            rule = boundary[f"{AXES[axis]}_{side}"]
            if rule["type"] == "dirichlet":
                to[row] = rule["value"]


def sweep(field, c, radius, boundary, source=0.0):
    """(the next field, the largest sum over a node's terms of their absolute values)"""
    extended = [padded(field, axis, radius, boundary) for axis in range(field.ndim)]
    new = np.zeros_like(field) + source
    sizes = np.abs(new)
    for weight, (axis, offset) in zip(c, neighbours(field.ndim, radius)):
        count = field.shape[field.ndim - 1 - axis]
        part = np.moveaxis(extended[axis][radius + offset : radius + offset + count], 0, field.ndim - 1 - axis)
        new += weight * part
        sizes += np.abs(weight * part)
    hold(new, field, radius, boundary)
    return new, float(sizes.max())


def numpy_sweeps(field, c, radius, boundary, precision, sources=(0.0,) * SWEEPS):
    """(the field after some sweeps, a bound on the program's rounding error)

    In a sweep of n terms with each coefficient and ghost rounded to u there are n + 1 roundings of the sum, one of the
    coefficient and three of the ghost rule, each u of the terms' sizes (Higham, Accuracy and Stability of Numerical
    Algorithms, 2nd ed., section 3.1). The next sweep amplifies the error by no more than the sum of the coefficients'
    sizes times the gain of the ghost rule: 3 for an odd reflection, less for the others.
    """
    field = field.astype(np.longdouble)
    # the walls have their values from the start
    hold(field, field.copy(), radius, boundary)
    bound, u = 0.0, ROUNDOFF[precision]
    for source in sources:
        field, size = sweep(field, c.astype(np.longdouble), radius, boundary, source)
        bound = bound * 3.0 * np.abs(c).sum() + (len(c) + 6) * u * size
    return field, 1.1 * bound  # terms of second order in u, and the rounding of the bound itself


def write_field(path, dataset, values):
    with h5py.File(path, "a") as f:
        f[dataset] = values


def random_field(dims, precision, seed=1):
    values = np.random.default_rng(seed).uniform(-1.0, 1.0, SHAPE[dims])
    return values.astype(np.float32 if precision == "float" else float).astype(float)


def raw_case(directory, dims, radius, precision, boundary, start, c, sweeps=SWEEPS, kernel="auto", **more):
    write_field(directory / "start.h5", "random/field", start)
    names = [f"{a}_{side}" for a in AXES[:dims] for side in ("min", "max")]
    assert sorted(boundary) == sorted(names)
    settings = {
        "precision": precision,
        "grid": {"points": list(SHAPE[dims][::-1]), "spacing": [SPACING[a] for a in AXES[:dims]]},
        "stencil": {"radius": radius, **{f"c{n}": value for n, value in enumerate(c)}},
        "initial": {"file": "start.h5", "dataset": "random/field"},
        "boundary": boundary,
        "time": {"sweeps": sweeps},
        "solver": {"kernel": kernel},
        **more,
    }
    if any(rule["type"] == "robin" for rule in boundary.values()):
        settings["material"] = {"conductivity": CONDUCTIVITY}
    return run(directory, settings)


def faces(kinds):
    """The boundary with kinds[axis][side]."""
    return {
        f"{a}_{side}": face(kind, f"{a}_{side}")
        for a, pair in zip(AXES, kinds)
        for side, kind in zip(("min", "max"), pair)
    }


def difference(result, expected):
    return float(np.abs(result.field.astype(np.longdouble) - expected).max())


ALL_STARS = [(dims, radius) for dims in (1, 2, 3) for radius in (1, 2, 3)]


@pytest.mark.parametrize("kernel", ["reference", "openmp", "wavefront"])
@pytest.mark.parametrize("precision", ["double", "float"])
@pytest.mark.parametrize("dims, radius", ALL_STARS)
def test_direct_sum(tmp_path, dims, radius, precision, kernel):
    c, boundary = coefficients(dims, radius), faces([("fixed", "fixed")] * dims)
    start = random_field(dims, precision)
    result = raw_case(tmp_path, dims, radius, precision, boundary, start, c, kernel=kernel)
    assert result.attributes["kernel"] == kernel
    assert np.array_equal(result.attributes["coefficients"], c)
    expected, bound = numpy_sweeps(start, c, radius, boundary, precision)
    assert difference(result, expected) <= bound
    # the bound is small enough to detect any two exchanged coefficients
    for i, j in itertools.combinations(range(len(c)), 2):
        exchanged = c.copy()
        exchanged[[i, j]] = c[[j, i]]
        other, _ = numpy_sweeps(start, exchanged, radius, boundary, precision)
        assert difference(result, other) > 100 * bound, f"c{i} and c{j} exchanged go unseen"


@pytest.mark.parametrize("precision", ["double", "float"])
@pytest.mark.parametrize("dims, radius", ALL_STARS)
def test_one_hot_node_spells_out_the_coefficients(tmp_path, dims, radius, precision):
    """There is no rounding: each node near the hot one gets 1 times a coefficient."""
    c, middle = coefficients(dims, radius), tuple(n // 2 for n in SHAPE[dims])
    start = np.zeros(SHAPE[dims])
    start[middle] = 1.0
    boundary = faces([("fixed", "fixed")] * dims)
    result = raw_case(tmp_path, dims, radius, precision, boundary, start, c, sweeps=1)
    expected = np.zeros(SHAPE[dims], result.field.dtype)
    for weight, (axis, offset) in zip(c, neighbours(dims, radius)):
        node = list(middle)
        node[dims - 1 - axis] -= offset  # its neighbour at `offset` is the hot one
        if all(radius <= n < count - radius for n, count in zip(node, SHAPE[dims])):
            expected[tuple(node)] = weight
    # except along the shortest axis the hot node is further than radius from the held layers
    assert np.array_equal(result.field, expected)


OTHER_KINDS = ["dirichlet", "neumann", "robin", "periodic", "reflective", "clamp", "constant"]


@pytest.mark.parametrize("precision", ["double", "float"])
@pytest.mark.parametrize("dims, radius", ALL_STARS)
@pytest.mark.parametrize("kind", OTHER_KINDS)
def test_every_wall(tmp_path, kind, dims, radius, precision):
    c, boundary = coefficients(dims, radius), faces([(kind, kind)] * dims)
    start = random_field(dims, precision, seed=2)
    result = raw_case(tmp_path, dims, radius, precision, boundary, start, c)
    expected, bound = numpy_sweeps(start, c, radius, boundary, precision)
    assert difference(result, expected) <= bound


MIXED = [
    [("dirichlet", "clamp"), ("fixed", "robin"), ("constant", "neumann")],
    [("reflective", "fixed"), ("periodic", "periodic"), ("robin", "dirichlet")],
    [("neumann", "constant"), ("clamp", "dirichlet"), ("fixed", "reflective")],
]


@pytest.mark.parametrize("precision", ["double", "float"])
@pytest.mark.parametrize("dims, radius", ALL_STARS)
@pytest.mark.parametrize("mixture", range(len(MIXED)))
def test_mixed_walls(tmp_path, mixture, dims, radius, precision):
    """Every face has another wall, so a face's rule applied to another face would show."""
    c, boundary = coefficients(dims, radius), faces(MIXED[mixture][:dims])
    start = random_field(dims, precision, seed=3)
    result = raw_case(tmp_path, dims, radius, precision, boundary, start, c)
    expected, bound = numpy_sweeps(start, c, radius, boundary, precision)
    assert difference(result, expected) <= bound


@pytest.mark.parametrize("precision", ["double", "float"])
@pytest.mark.parametrize("dims, radius", [(1, 3), (2, 2), (3, 1)])
def test_sources_are_added_as_they_are(tmp_path, dims, radius, precision):
    c, boundary = coefficients(dims, radius), faces([("reflective", "fixed")] * dims)
    start, steady = random_field(dims, precision), random_field(dims, precision, seed=4)
    write_field(tmp_path / "heat.h5", "source", steady)
    result = raw_case(tmp_path, dims, radius, precision, boundary, start, c, source={"file": "heat.h5"})
    expected, bound = numpy_sweeps(start, c, radius, boundary, precision, [steady] * SWEEPS)
    assert difference(result, expected) <= bound


VARYING = {"dirichlet": "value", "constant": "value", "neumann": "gradient", "robin": "ambient"}
WAVE = "0.5*sin({n}+3*x+2*y-5*z+0.75*t)"


def walls_at(boundary, dims, t):
    """The boundary with each expression evaluated to numbers on its face [.][.] at time t."""
    # the axes of SHAPE are z, y, x
    where = {a: 0.0 for a in AXES}
    for axis, a in enumerate(AXES[:dims]):
        shape = [1] * dims
        shape[dims - 1 - axis] = -1
        where[a] = (SPACING[a] * np.arange(SHAPE[dims][dims - 1 - axis])).reshape(shape)
    numbers = {}
    for name, rule in boundary.items():
        axis, row = AXES.index(name[0]), 0 if name.endswith("min") else -1
        key = VARYING[rule["type"]]
        everywhere = np.broadcast_to(evaluate(rule[key], t=t, **where), SHAPE[dims])
        numbers[name] = {**rule, key: np.moveaxis(everywhere, dims - 1 - axis, 0)[row]}
    return numbers


@pytest.mark.parametrize("precision", ["double", "float"])
@pytest.mark.parametrize("dims, radius", ALL_STARS)
@pytest.mark.parametrize("kind", VARYING)
def test_walls_in_space_and_time(tmp_path, kind, dims, radius, precision):
    """A ghost takes its wall's value at the time of the sweep's input, a dirichlet node at the time of its output; here
    a sweep takes one unit of time."""
    c, boundary = coefficients(dims, radius), faces([(kind, kind)] * dims)
    for name, rule in boundary.items():
        rule[VARYING[kind]] = WAVE.format(n=FACE_NUMBER[name])  # y and z are 0 where the grid lacks them
    start = random_field(dims, precision, seed=6)
    result = raw_case(tmp_path, dims, radius, precision, boundary, start, c)
    field, bound = start.astype(np.longdouble), 0.0
    hold(field, field.copy(), radius, walls_at(boundary, dims, 0.0))
    for n in range(SWEEPS):
        new, size = sweep(field, c.astype(np.longdouble), radius, walls_at(boundary, dims, float(n)))
        hold(new, field, radius, walls_at(boundary, dims, n + 1.0))
        field = new
        # as in numpy_sweeps; in addition the wall's value (at most 1) is rounded to u, and its sine to a few u
        bound = bound * 3.0 * np.abs(c).sum() + (len(c) + 10) * ROUNDOFF[precision] * max(size, 1.0)
    assert difference(result, field) <= 1.1 * bound


def test_a_source_in_time_is_that_of_the_sweeps_input(tmp_path):
    c, boundary = coefficients(2, 1), faces([("clamp", "clamp")] * 2)
    start = random_field(2, "double")
    result = raw_case(tmp_path, 2, 1, "double", boundary, start, c, source={"expression": "(1+t)^2/8"})
    expected, bound = numpy_sweeps(start, c, 1, boundary, "double", [0.125, 0.5, 1.125])
    assert difference(result, expected) <= bound
