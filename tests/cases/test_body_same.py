"""Bodies of several materials: agreement with one material, and what must hold in every body: heat is kept, no new
extremes appear, mirror images stay mirror images."""

import json
import re

import h5py
import numpy as np
import pytest
from helpers import AXES, ROUNDOFF, run
from program import must

PRECISIONS = ["double", "float"]
DIMS = [1, 2, 3]
NUMBERS = {"conductivity": 4.0, "density": 8.0, "specific_heat": 0.25}
SHAPE = {1: (41,), 2: (9, 17), 3: (7, 6, 9)}  # [z][y][x]
SPACING = [0.125, 0.25, 0.5]


def random_field(dims, seed=1):
    """Values from 0 to 1 with 20 bits, so they are exact in float too."""
    return np.random.default_rng(seed).integers(0, 2**20 + 1, SHAPE[dims]) / 2.0**20


def case(directory, dims, precision, boundary, start=None, sweeps=64, **more):
    start = random_field(dims) if start is None else start
    np.save(directory / "start.npy", start)
    return {
        "precision": precision,
        "grid": {"points": list(start.shape[::-1]), "spacing": SPACING[:dims]},
        "initial": {"file": "start.npy"},
        "boundary": boundary,
        "time": {"sweeps": sweeps},
        **more,
    }


# ---- the same as one material --------------------------------------------------------------------


def two_alike(dims):
    """A body of two materials that differ only in name."""
    return {
        "materials": [{"name": "one", **NUMBERS}, {"name": "other", **NUMBERS}],
        "body": [
            {"material": "one"},
            {"material": "other", "shape": "sphere", "centre": [0.5] * dims, "radius": 0.6},
            {"material": "one", "shape": "box", "lower": [0.1] * dims, "upper": [0.47] * dims},
        ],
    }


WALLS = {
    "fixed": {"type": "fixed"},
    "dirichlet": {"type": "dirichlet", "value": "0.5+x*sin(9*t)"},
    "dirichlet in time": {"type": "dirichlet", "value": "0.5+sin(9*t)"},
    "neumann": {"type": "neumann", "flux": "3*cos(5*t)"},
    "neumann that moves": {"type": "neumann", "flux": "3*cos(2*x-5*t)"},
    "robin": {"type": "robin", "h": 2.0, "ambient": "1+t"},
    "robin that moves": {"type": "robin", "h": 2.0, "ambient": "1+exp(-(x-t)^2)"},
    "reflective": {"type": "reflective"},
    "periodic": {"type": "periodic"},
}


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("dims", DIMS)
@pytest.mark.parametrize("wall", WALLS)
def test_two_equal_materials_are_as_one(tmp_path, wall, dims, precision):
    """The network's sweep and the stencil's have the same terms in another order: they differ by roundings."""
    settings = case(tmp_path, dims, precision, {"all": WALLS[wall]}, source={"value": 3.0})
    settings["time"]["step"] = 0.9 / (2 * 2.0 * sum(1 / h**2 for h in SPACING[:dims])) * 0.8
    one = run(tmp_path, {**settings, "material": NUMBERS}, "one")
    two = run(tmp_path, {**settings, **two_alike(dims)}, "two")
    assert one.attributes["operator"] == "stencil" and two.attributes["operator"] == "conduction"
    # both round some 2*dims + 4 terms a sweep, each at most twice the field's size, and the coefficients
    size = 2.0 * max(1.0, np.abs(one.field).max())
    bound = 64 * 2 * 2 * (2 * dims + 4) * ROUNDOFF[precision] * size
    assert np.abs(one.field.astype(float) - two.field).max() <= bound
    assert np.abs(one.field - one.first).max() > 0.1


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("dims", DIMS)
@pytest.mark.parametrize("wall", WALLS)
def test_a_body_of_one_material_is_the_stencils_to_the_bit(tmp_path, wall, dims, precision):
    settings = case(tmp_path, dims, precision, {"all": WALLS[wall]}, source={"expression": "x*t"})
    # chosen so that dividing the product by one factor does not give the other exactly
    numbers = {"conductivity": 4.3, "density": 1.057, "specific_heat": 0.996}
    assert 1.057 * 0.996 / 1.057 != 0.996
    one = run(tmp_path, {**settings, "material": numbers}, "one")
    body = {
        "materials": [{"name": "not used", **NUMBERS}, {"name": "one", **numbers}],
        "body": [{"material": "one"}, {"material": "one", "shape": "sphere", "centre": [0.5] * dims, "radius": 0.3}],
    }
    same = run(tmp_path, {**settings, **body}, "same")
    for name in ("operator", "kernel", "step", "stability_limit", "heat_capacity"):
        assert one.attributes[name] == same.attributes[name], name
    assert one.attributes["operator"] == "stencil"
    assert np.array_equal(one.field, same.field)
    for name in one.history:
        assert np.array_equal(one.history[name], same.history[name], equal_nan=True), name


PATCHED = ["neumann", "neumann that moves", "robin", "robin that moves", "fixed", "dirichlet", "dirichlet in time"]


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("dims", [2, 3])
@pytest.mark.parametrize("wall", PATCHED)
def test_a_patch_over_the_whole_face_is_the_face(tmp_path, wall, dims, precision):
    """The same bits in a body; equal to rounding where the patch turns one material into a body."""
    whole = {"lower": [0.0] * (dims - 1), "upper": [9.0] * (dims - 1)}
    plain = {"all": {"type": "reflective"}, "x_max": WALLS[wall]}
    patched = {"all": {"type": "reflective"}, "x_max": {"type": "robin", "h": 7.0, "ambient": 50.0, "patches": [{**whole, **WALLS[wall]}]}}
    settings = case(tmp_path, dims, precision, plain)
    settings["time"]["step"] = 0.7 / (2 * 2.0 * sum(1 / h**2 for h in SPACING[:dims]))
    face = run(tmp_path, {**settings, **two_alike(dims)}, "face")
    patch = run(tmp_path, {**settings, **two_alike(dims), "boundary": patched}, "patch")
    assert np.array_equal(face.field, patch.field)
    one = run(tmp_path, {**settings, "material": NUMBERS}, "one")
    patch = run(tmp_path, {**settings, "material": NUMBERS, "boundary": patched}, "onepatch")
    assert one.attributes["operator"] == "stencil" and patch.attributes["operator"] == "conduction"
    size = 2.0 * max(1.0, np.abs(one.field).max())
    assert np.abs(one.field.astype(float) - patch.field).max() <= 64 * 4 * (2 * dims + 4) * ROUNDOFF[precision] * size
    assert np.abs(one.field[..., -3:] - one.first[..., -3:]).max() > 0.1


OWN = {  # what all faces have, and what x_min gives itself
    "a number": ({"flux_table": "flux.txt", "flux_file": "flux.npy"}, {"flux": 2.0}),
    "a table": ({"flux": 2.0}, {"flux_table": "flux.txt"}),
    "a file beside a table": ({"flux_table": "flux.txt"}, {"flux_file": "flux.npy"}),
}


@pytest.mark.parametrize("name", OWN)
def test_what_a_face_gives_itself_stands_for_what_all_have(tmp_path, name):
    shared, own = OWN[name]
    (tmp_path / "flux.txt").write_text("0 1\n1 5\n")
    np.save(tmp_path / "flux.npy", np.linspace(1.0, 2.0, 9))
    neumann = {"type": "neumann"}
    start = random_field(2)[:, :9]
    inherits = case(tmp_path, 2, "double", {"all": {**neumann, **shared}, "x_min": own}, start=start, material=NUMBERS)
    both = {**shared, **own} if name == "a file beside a table" else own
    written = {f: {**neumann, **(both if f == "x_min" else shared)} for f in ("x_min", "x_max", "y_min", "y_max")}
    one, other = run(tmp_path, inherits, "one"), run(tmp_path, {**inherits, "boundary": written}, "other")
    assert np.array_equal(one.field, other.field) and np.abs(one.field - one.first).max() > 0.1


@pytest.mark.parametrize("wall", ["reflective", "periodic"])
@pytest.mark.parametrize("dims", DIMS)
def test_a_body_of_one_material_everywhere_tells_its_materials_as_another_does(tmp_path, wall, dims):
    """One material is swept by the stencil; a negligible perfusion makes it a body. Both write the same materials."""
    materials = [{"name": "steel", **NUMBERS}, {"name": "air", **NUMBERS, "conductivity": 1.0}]
    settings = {**case(tmp_path, dims, "double", {"all": {"type": wall}}), "body": [{"material": "steel"}]}
    told = {}
    for name, more in (("stencil", {}), ("conduction", {"perfusion": {"rate": 1e-9, "reference": 0.5}})):
        result = run(tmp_path, {**settings, "materials": [{**materials[0], **more}, materials[1]]}, name)
        assert result.attributes["operator"] == name
        with h5py.File(tmp_path / f"{name}.h5") as f:
            told[name] = {m: {k: np.array(v).tolist() for k, v in f["materials"][m].attrs.items()} for m in f["materials"]}
            assert ("body" in f) == (name == "conduction")
        told[name]["line"] = re.search(r"steel: (.*)", must(tmp_path, "check", f"{name}.cfg"))[1]
        told[name]["json"] = json.loads(must(tmp_path, "check", f"{name}.cfg", "--json"))["materials"]
    told["conduction"]["steel"]["perfusion"] = 0.0
    for material in ("steel", "air"):
        assert told["stencil"][material] == pytest.approx(told["conduction"][material], rel=1e-14)
    assert told["stencil"]["line"] == told["conduction"]["line"]
    volume = np.prod([(n - (wall == "reflective")) * h for n, h in zip(SHAPE[dims][::-1], SPACING)])
    assert told["stencil"]["steel"]["volume"] == pytest.approx(volume, rel=1e-14)
    for one, other in zip(told["stencil"]["json"], told["conduction"]["json"]):
        assert one == pytest.approx(other, rel=1e-14)


# ---- what holds in every body --------------------------------------------------------------------

MATERIALS = [
    {"name": "a", "conductivity": 4.0, "density": 2.0, "specific_heat": 1.0},
    {"name": "b", "conductivity": 0.05, "density": 8.0, "specific_heat": 0.5},
    {"name": "c", "conductivity": 1.0, "density": 1.0, "specific_heat": 1.5},
]
CONTACTS = [{"between": ["a", "b"], "resistance": 0.3}, {"between": ["b", "c"], "resistance": 2.0}]
CAPACITY = np.array([m["density"] * m["specific_heat"] for m in MATERIALS])


WRAPS = {"periodic": AXES, "x periodic": "x"}


def walls(wall, dims):
    """The wall at all faces, or x periodic and the others reflective."""
    if wall == "x periodic":
        return {"all": {"type": "reflective"}, "x_min": {"type": "periodic"}, "x_max": {"type": "periodic"}}
    return {"all": DRIVEN[wall]}


def random_labels(dims, wall, seed=2):
    """Random labels of cells; if all axes are periodic these are as many as the nodes, and the labels are the nodes'."""
    wraps = WRAPS.get(wall, "")
    shape = [n - (a not in wraps) for n, a in zip(SHAPE[dims], AXES[:dims][::-1])]
    return np.random.default_rng(seed).integers(0, 3, shape).astype(np.uint8)


def random_body(directory, labels):
    np.save(directory / "label.npy", labels)
    return {
        "materials": MATERIALS,
        "body": [{"file": "label.npy", "names": ["a", "b", "c"]}],
        "contacts": CONTACTS,
    }


def heat_capacities(labels, wall):
    """The heat capacity of each node, from the labels within half a cell around it."""
    each = CAPACITY[labels]
    if wall == "periodic":
        return each * np.prod(SPACING[: labels.ndim])
    for axis in range(labels.ndim):
        name = AXES[labels.ndim - 1 - axis]
        cells = np.moveaxis(each, axis, 0)
        if name in WRAPS.get(wall, ""):
            nodes = cells + np.roll(cells, 1, 0)
        else:
            nothing = np.zeros_like(cells[:1])
            nodes = np.concatenate([cells, nothing]) + np.concatenate([nothing, cells])
        each = np.moveaxis(nodes, 0, axis) * (SPACING[AXES.index(name)] / 2)
    return each


DRIVEN = {
    "reflective": WALLS["reflective"],
    "periodic": WALLS["periodic"],
    "fixed": WALLS["fixed"],
    "dirichlet": {"type": "dirichlet", "value": "0.5+0.5*sin(40*t)"},
    "robin": {"type": "robin", "h": 16.0, "ambient": "0.5-0.5*cos(40*t)"},
}
EACH = [(dims, wall) for dims in DIMS for wall in [*DRIVEN, "x periodic"] if not (dims == 1 and wall == "x periodic")]
CLOSED = [(dims, wall) for dims, wall in EACH if wall in ("reflective", "periodic", "x periodic")]


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("dims, wall", CLOSED)
def test_heat_stays_over_100000_sweeps(tmp_path, wall, dims, precision):
    """Every cell has a random material, with contacts between materials."""
    labels = random_labels(dims, wall)
    settings = case(tmp_path, dims, precision, walls(wall, dims), sweeps=100000, **random_body(tmp_path, labels))
    result = run(tmp_path, settings)
    capacity = heat_capacities(labels, wall)
    before, after = (capacity * result.first).sum(), (capacity * result.field.astype(float)).sum()
    # A sweep rounds a node by 2 u of 1 K; at worst all roundings have one sign, until the field is level to rounding
    # and nothing moves. If they are random the sum grows with sqrt(sweeps * nodes); ten times that is enough.
    bound = 10 * 2 * np.sqrt(100000 / capacity.size) * ROUNDOFF[precision] * capacity.sum()
    assert abs(after - before) <= bound
    assert bound < 1e-2 * before
    assert np.ptp(result.field) < 0.2  # heat has spread
    assert result.history["heat"][0] == pytest.approx(before, rel=1e-12)
    assert result.history["heat"][-1] == pytest.approx(after, rel=1e-12)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("dims", DIMS)
def test_what_flows_in_is_what_is_there(tmp_path, dims, precision):
    """Fluxes through all faces and a source in a body of random cells: the balance closes to rounding."""
    labels = random_labels(dims, "neumann")
    flux = {"x_min": -3.0, "x_max": 1.0, "y_min": 2.0, "y_max": -5.0, "z_min": -0.5, "z_max": 0.25}
    boundary = {f"{a}_{s}": {"type": "neumann", "flux": flux[f"{a}_{s}"]} for a in AXES[:dims] for s in ("min", "max")}
    settings = case(tmp_path, dims, precision, boundary, source={"value": 0.75}, **random_body(tmp_path, labels))
    result = run(tmp_path, settings)
    capacity = heat_capacities(labels, "neumann")
    lengths = [h * (n - 1) for h, n in zip(SPACING, SHAPE[dims][::-1])]
    inward = 0.75 * np.prod(lengths)
    for axis, a in enumerate(AXES[:dims]):
        inward -= (flux[f"{a}_min"] + flux[f"{a}_max"]) * np.prod(lengths) / lengths[axis]
    rise = (capacity * (result.field.astype(float) - result.first)).sum()
    # 2 dims + 4 roundings a sweep and node, at worst all of one sign
    size = max(1.0, np.abs(result.field).max())
    bound = 64 * (2 * dims + 4) * ROUNDOFF[precision] * size * capacity.sum()
    assert abs(rise - inward * result.time[-1]) <= bound
    assert bound < 0.1 * abs(rise)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("dims, wall", EACH)
def test_no_new_extremes(tmp_path, wall, dims, precision):
    """Zeros and ones, with walls that drive towards values between. At half the longest stable step no node gives more
    than it has: no node's summed conductances over its heat capacity exceed the largest eigenvalue."""
    start, body = np.round(random_field(dims)), random_body(tmp_path, random_labels(dims, wall))
    settings = case(tmp_path, dims, precision, walls(wall, dims), start=start, **body)
    settings["time"]["safety"] = 0.5
    result = run(tmp_path, settings)
    slack = 64 * (2 * dims + 4) * ROUNDOFF[precision]  # roundings of 1 K
    assert result.first.min() == 0.0 and result.first.max() == 1.0
    assert result.history["min"].min() >= -slack and result.history["max"].max() <= 1.0 + slack
    assert result.field.min() >= -slack and result.field.max() <= 1.0 + slack


def test_and_twice_that_step_would_make_some(tmp_path):
    """Shows that the test above would fail if extremes appeared."""
    settings = case(tmp_path, 1, "double", {"all": WALLS["reflective"]}, start=np.arange(41) % 2 * 1.0,
                    **random_body(tmp_path, random_labels(1, "reflective")))  # fmt: skip
    settings["time"] = {"sweeps": 1, "safety": 1.0}
    result = run(tmp_path, settings)
    assert result.field.max() > 1.01 or result.field.min() < -0.01


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("dims, wall", EACH)
def test_mirror_images_stay_mirror_images(tmp_path, wall, dims, precision):
    """Flipping body and start along an axis flips the field, but for rounding: neighbours are added from the lower side
    up."""
    labels, start = random_labels(dims, wall), random_field(dims)
    settings = case(tmp_path, dims, precision, walls(wall, dims), **random_body(tmp_path, labels))
    del settings["contacts"]  # a contact exactly at a node is not symmetric
    straight = run(tmp_path, settings, "straight")
    # the longest stable step is found by an iteration, which may end at another value for the mirrored body
    steps, straight = {"sweeps": 64, "step": straight.attributes["step"]}, straight.field
    for axis in range(dims):
        # on a periodic axis cell i lies above node i, so node 0 must stay in place for the cells to flip
        stays = wall == "x periodic" and axis == dims - 1
        turned_start = np.roll(np.flip(start, axis), stays, axis)
        body = random_body(tmp_path, np.flip(labels, axis))
        turned = case(tmp_path, dims, precision, walls(wall, dims), start=turned_start, **body)
        del turned["contacts"]
        turned["time"] = steps
        field = np.flip(np.roll(run(tmp_path, turned, "turned").field.astype(float), -stays, axis), axis)
        bound = 64 * 2 * (2 * dims + 4) * ROUNDOFF[precision] * np.sqrt(start.size)
        assert np.abs(field - straight).max() <= bound
        assert np.abs(np.flip(straight, axis) - straight).max() > 0.05  # the body has no symmetry of its own


@pytest.mark.parametrize("dims", [2, 3])
def test_a_ball_halfway_in_a_layer_has_a_mirror_image(tmp_path, dims):
    """The layer's face runs through nodes, so the ball's surface crosses edges in it: each side of such an edge has its
    own material."""
    start = random_field(dims)
    ends = [h * (n - 1) for h, n in zip(SPACING, start.shape[::-1])]
    face, depth = dims - 1, 2 * SPACING[dims - 1]
    fields = []
    for normal, place in ((1.0, depth), (-1.0, ends[face] - depth)):
        at = [end / 2 for end in ends[:face]] + [place]
        layer = {"shape": "half-space", "point": at, "normal": [0.0] * face + [normal]}
        ball = {"shape": "sphere", "centre": at, "radius": 0.7}
        body = [{"material": "a"}, {"material": "b", **layer}, {"material": "c", **ball}]
        turned = start if normal > 0 else np.flip(start, 0)
        settings = case(tmp_path, dims, "double", walls("reflective", dims), turned, materials=MATERIALS, body=body)
        settings["time"]["step"] = 0.002
        field = run(tmp_path, settings, f"normal{normal:g}").field
        fields.append(field if normal > 0 else np.flip(field, 0))
    assert np.abs(fields[0] - fields[1]).max() <= 64 * 2 * (2 * dims + 4) * ROUNDOFF["double"]
    assert np.abs(fields[0] - start).max() > 0.05


def test_shapes_and_labels_of_cells_say_the_same_to_the_bit(tmp_path):
    """Boxes whose sides run through nodes, and labels of the same cells."""
    labels = np.zeros([n - 1 for n in SHAPE[3]], np.uint8)
    labels[1:4, 2:, 3:6] = 1
    labels[4:, :, :2] = 2
    low = lambda *node: [n * h for n, h in zip(node, SPACING)]
    body = [
        {"material": "a"},
        {"material": "b", "shape": "box", "lower": low(3, 2, 1), "upper": low(6, 5, 4)},
        {"material": "c", "shape": "box", "lower": low(0, 0, 4), "upper": low(2, 5, 6)},
    ]
    settings = case(tmp_path, 3, "double", {"all": WALLS["robin"]}, **random_body(tmp_path, labels))
    by_labels = run(tmp_path, settings, "labels")
    by_shapes = run(tmp_path, {**settings, "body": body}, "shapes")
    assert np.array_equal(by_labels.field, by_shapes.field)


def test_measured_fields_are_as_labels_of_nodes(tmp_path):
    """The same conductivities and capacities, given as materials of nodes and as numbers."""
    label = np.random.default_rng(4).integers(0, 3, SHAPE[3]).astype(np.uint16)
    np.save(tmp_path / "node.npy", label)
    np.save(tmp_path / "k.npy", np.array([m["conductivity"] for m in MATERIALS])[label])
    np.save(tmp_path / "c.npy", CAPACITY[label])
    settings = case(tmp_path, 3, "double", {"all": WALLS["robin"]})
    by_label = {"materials": MATERIALS, "body": [{"file": "node.npy", "names": ["a", "b", "c"]}]}
    by_number = {"measured": {"conductivity": {"file": "k.npy"}, "capacity": {"file": "c.npy"}}}
    labelled = run(tmp_path, {**settings, **by_label}, "labelled")
    measured = run(tmp_path, {**settings, **by_number}, "measured")
    # with labels capacities are summed over octants
    assert np.abs(labelled.field - measured.field).max() <= 64 * 10 * ROUNDOFF["double"]


BY_FILE = {
    "neumann": {"type": "neumann", "flux_file": "all.npy"},
    "dirichlet": {"type": "dirichlet", "value_file": "all.npy"},
    "robin": {"type": "robin", "h_file": "all.npy", "ambient_file": "all.npy"},
}


@pytest.mark.parametrize("kind", BY_FILE)
def test_files_of_all_faces_are_those_of_each(tmp_path, kind):
    """A file given for `all` is read for each face: the same bits as if given for each; constants differ by rounding."""
    start = np.random.default_rng(3).random((9, 9))
    np.save(tmp_path / "all.npy", np.full(9, 3.0))
    shared, faces = BY_FILE[kind], ["x_min", "x_max", "y_min", "y_max"]
    plain = {key.removesuffix("_file"): 3.0 if key.endswith("_file") else value for key, value in shared.items()}
    fields = {
        name: run(tmp_path, {**case(tmp_path, 2, "double", boundary, start), **two_alike(2)}, name).field
        for name, boundary in (("all", {"all": shared}), ("each", dict.fromkeys(faces, shared)), ("plain", {"all": plain}))
    }
    assert np.array_equal(fields["all"], fields["each"])
    # a constant takes one multiplication less
    assert np.abs(fields["all"] - fields["plain"]).max() <= 64 * 10 * ROUNDOFF["double"] * 3.0 * 10
    assert np.abs(fields["all"] - start).max() > 0.1
