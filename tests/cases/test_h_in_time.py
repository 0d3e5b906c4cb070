"""Convection whose coefficient changes with time (h_table). Random bodies (test_body_definition.py, test_moving_walls.py,
test_ranks.py) have such walls, too."""

import math

import h5py
import numpy as np
import pytest
from helpers import assert_order, command, refused, run

# ---- an exact solution ---------------------------------------------------------------------------

K, C = 0.8, 2.0  # W/(m K), J/(m^3 K)
MU = 1.3
RATE = K / C * MU**2
TABLE = [(0.0, 0.4), (0.3, 2.0), (0.5, 0.1), (1.0, 3.0)]
END = 0.5  # within a line of the table the solution is smooth, and steps end at its points


def slab(cells, **time):
    """T = cos(mu x) exp(-rate t) on 0 < x < 1, insulated at 0; at 1 it convects to the ambient temperature that takes just
    as much of it: -k dT/dx = h(t) (T - ambient)."""
    exact = f"cos({MU}*x)*exp(-{RATE!r}*t)"
    (t0, h0), (t1, h1), (t2, h2) = TABLE[:3]
    h = f"(t<{t1} ? {h0}+t*{(h1 - h0) / (t1 - t0)!r} : {h1}+(t-{t1})*{(h2 - h1) / (t2 - t1)!r})"
    ambient = f"({math.cos(MU)!r}-{K * MU * math.sin(MU)!r}/{h})*exp(-{RATE!r}*t)"
    return {
        "grid": {"points": [cells + 1], "spacing": 1.0 / cells},
        "material": {"conductivity": K, "density": C, "specific_heat": 1.0},
        "initial": {"expression": exact},
        "boundary": {"x_min": {"type": "reflective"}, "x_max": {"type": "robin", "h_table": "h.csv", "ambient": ambient}},
        "time": {"end": END, **time},
        "output": {"interval": 0.1},
    }, exact


@pytest.fixture
def table(tmp_path):
    (tmp_path / "h.csv").write_text("".join(f"{t}, {h}\n" for t, h in TABLE))


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize("method", ["euler", "rkl2", "implicit"])
def test_a_slab_is_of_second_order(tmp_path, method):
    """In space, with euler's step proportional to the square of the spacing; and in time, with the others' to the spacing."""
    errors, balances = [], []
    for cells in (20, 40, 80):
        time = {} if method == "euler" else {"method": method, "step": 1.0 / cells}
        settings, exact = slab(cells, **time)
        result = run(tmp_path, settings)
        assert result.attributes["operator"] == "conduction"
        errors.append(np.abs(result.field - result.evaluate(exact)).max())
        balances.append(np.abs(result.history["imbalance"][1:]).max() / np.abs(result.history["flux/x_max"][1:]).max())
    assert_order(errors, 1.8, 2.2, method)
    assert errors[-1] < 3e-5  # 1.2e-5 to 2.1e-5 were seen
    # rounding: 1e-13 was seen; implicit steps leave up to 1e-6 of a step's change unsolved: 3e-7 of the flux was seen
    assert max(balances) < (1e-5 if method == "implicit" else 1e-12), balances


# ---- what it is and is not -----------------------------------------------------------------------

WALL = {"type": "robin", "h_table": "fan.csv", "ambient": 20.0}


def plate(boundary, **more):
    return {
        "grid": {"points": [9, 7], "upper": [0.08, 0.06]},
        "materials": [
            {"name": "copper", "conductivity": 400.0, "density": 8900.0, "specific_heat": 390.0},
            {"name": "paste", "conductivity": 2.0, "density": 2000.0, "specific_heat": 900.0, "perfusion": {"rate": 2e4, "reference": 37.0}},
        ],
        "body": [{"material": "copper"}, {"material": "paste", "shape": "box", "lower": [0.0, 0.03], "upper": [0.08, 0.06]}],
        "initial": {"value": 80.0},
        "boundary": {"all": {"type": "reflective"}, **boundary},
        "time": {"end": 8.0},
        **more,
    }


@pytest.mark.parametrize("method", ["euler", "rkl2", "implicit"])
def test_a_fan_that_stands_still_takes_nothing(tmp_path, method):
    (tmp_path / "fan.csv").write_text("0 50\n1 50\n2 0\n6 0\n7 50\n")
    time = {"end": 8.0, "method": method, **({} if method == "euler" else {"step": 0.01})}
    history = run(tmp_path, plate({"y_max": WALL}, time=time, output={"interval": 0.5})).history
    leaves = dict(zip(history["time"][1:], history["flux/y_max"][1:]))
    # in the mean of an implicit step each step before counts a third of the one after it, and here 50 lie between
    assert all(abs(flux) <= (1e-20 if method == "implicit" else 0.0) for t, flux in leaves.items() if 2.1 < t < 5.9)
    assert all(flux > 10.0 for t, flux in leaves.items() if not 1.9 < t < 6.1)
    # rounding of the heat over a step: 1e-10 was seen; implicit steps leave up to 1e-6 of a change unsolved
    assert np.abs(history["imbalance"][1:]).max() < (1e-4 if method == "implicit" else 1e-8) * max(leaves.values())


@pytest.mark.parametrize("method", ["euler", "rkl2", "implicit"])
def test_a_table_of_one_number_is_that_number(tmp_path, method):
    (tmp_path / "fan.csv").write_text("0 50\n3 50\n")
    time = {"end": 1.0, "method": method, **({} if method == "euler" else {"step": 0.01})}
    one, other = (run(tmp_path, plate({"y_max": wall}, time=time)) for wall in (WALL, {"type": "robin", "h": 50.0, "ambient": 20.0}))
    assert one.field.tobytes() == other.field.tobytes()


@pytest.mark.parametrize("method", ["euler", "rkl2", "implicit"])
def test_tables_of_walls_do_not_mix(tmp_path, method):
    """Two walls, and a patch that has the table of one of them times a field: heat through each, and the balance."""
    (tmp_path / "fan.csv").write_text("0 50\n8 500\n")
    (tmp_path / "wind.csv").write_text("0 900\n8 0\n")
    np.save(tmp_path / "along.npy", np.linspace(1.0, 2.0, 9))
    patch = {"type": "robin", "h_table": "fan.csv", "h_file": "along.npy", "ambient": "20+5*sin(t)", "lower": [0.02], "upper": [0.05]}
    walls = {"y_max": {**WALL, "patches": [patch]}, "x_max": {"type": "robin", "h_table": "wind.csv", "ambient": "30+t"}}
    walls["x_min"] = {"type": "dirichlet", "value": "80-2*t"}  # as in the corner, through which h_table takes heat, too
    time = {"end": 8.0, "method": method, "step": 0.002 if method == "euler" else 0.05}
    result = run(tmp_path, plate(walls, time=time, output={"interval": 2.0}))
    history = result.history
    largest = max(np.abs(history[name][1:]).max() for name in history if name.startswith("flux/"))
    assert np.abs(history["imbalance"][1:]).max() < (3e-5 if method == "implicit" else 1e-10) * largest
    # at the end by hand: a row has the mean of its step, in which of 8 s sweeps of 0.002 and steps of 0.05 change h and the
    # temperatures by some 1e-3 and 1e-2
    T, x = result.field, np.linspace(0.0, 0.08, 9)
    near = {"euler": 1e-3, "rkl2": 2e-2, "implicit": 2e-2}[method]
    assert history["flux/x_max"][-1] == pytest.approx(0.0, abs=near * largest)
    width = np.array([0.005] + [0.01] * 7 + [0.005])
    on_patch = np.clip(np.minimum(x + 0.005, 0.05) - np.maximum(x - 0.005, 0.02), 0.0, None)
    whole = width - on_patch
    assert history["flux/y_max"][-1] == pytest.approx((500.0 * whole * (T[-1] - 20.0)).sum(), rel=near)
    own = 500.0 * np.linspace(1.0, 2.0, 9) * on_patch * (T[-1] - 20.0 - 5.0 * math.sin(8.0))
    assert history["flux/y_max_1"][-1] == pytest.approx(own.sum(), rel=near)


@pytest.mark.parametrize("method", ["rkl2", "implicit"])
def test_steps_longer_than_the_changes_of_h_balance(tmp_path, method):
    """The stages of a step have weights of either sign, and so may h have a mean of either sign, or 0."""
    (tmp_path / "fan.csv").write_text("".join(f"{0.5 * n} {900 * (n % 2 == 0)}\n" for n in range(33)))
    for step in (2.0, 1.0, 0.8, 0.25):
        result = run(tmp_path, plate({"y_max": WALL}, time={"end": 8.0, "method": method, "step": step}, output={"interval": 2.0}))
        fluxes = np.abs(result.history["flux/y_max"][1:])
        # implicit steps leave 1e-6 of a step's change unsolved, which the long ones here take for more than the flux
        assert np.abs(result.history["imbalance"][1:]).max() < (1e-4 if method == "implicit" else 1e-10) * fluxes.max(), step


def test_one_table_on_all_faces_is_one_function(tmp_path):
    """At a corner of a cube each face has a wall and a patch; as functions of their own they would be too many."""
    (tmp_path / "fan.csv").write_text("0 50\n8 500\n")
    patch = {"type": "robin", "h_table": "fan.csv", "ambient": 30.0, "lower": [0.0, 0.0], "upper": [0.002, 0.003]}
    walls = {f"{a}_min": {**WALL, "patches": [{**patch, "flux": float(n)}]} for n, a in enumerate("xyz")}
    cube = {**plate({"all": WALL, **walls}), "grid": {"points": [7, 7, 7], "upper": [0.06] * 3}}
    cube["body"] = [{"material": "copper"}, {"material": "paste", "shape": "half-space", "point": [0.03] * 3, "normal": [1.0, 1.0, 1.0]}]
    history = run(tmp_path, cube).history
    assert len([name for name in history if name.startswith("flux/")]) == 9
    largest = max(np.abs(history[name][1:]).max() for name in history if name.startswith("flux/"))
    assert np.abs(history["imbalance"][1:]).max() < 1e-10 * largest


# ---- the step, and a run that goes on -------------------------------------------------------------


def test_the_longest_stable_step_is_that_of_the_largest_h(tmp_path):
    (tmp_path / "fan.csv").write_text("0 1\n3 9e5\n4 0\n")
    said = [command(tmp_path, plate({"y_max": wall}), "check").stdout for wall in (WALL, {"type": "robin", "h": 9e5, "ambient": 20.0})]
    limits = [next(line for line in text.splitlines() if line.startswith("stability")) for text in said]
    assert limits[0] == limits[1]
    without = command(tmp_path, plate({"y_max": {"type": "reflective"}}), "check").stdout
    assert limits[0] not in without


@pytest.mark.parametrize("method", ["euler", "rkl2"])
def test_a_run_that_goes_on_has_the_same_bits(tmp_path, method):
    (tmp_path / "fan.csv").write_text("0 50\n8 500\n")
    fields = []
    for stops in ([4.0], [2.0, 4.0]):
        for n, end in enumerate(stops):
            time = {"end": end, "method": method, "step": 0.002 if method == "euler" else 0.1}
            settings = plate({"y_max": WALL}, time=time, output={"interval": 1.0, "file": "out.h5"})
            done = command(tmp_path, settings, "run", "--quiet", "--resume" if n else "--overwrite")
            assert done.returncode == 0, done.stderr
        with h5py.File(tmp_path / "out.h5") as f:
            fields.append(f["temperature"][...].tobytes() + f["history/flux/y_max"][...].tobytes())
    assert fields[0] == fields[1]


# ---- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wall, said",
    [
        ({"h_table": "low.csv", "ambient": 20.0}, 'boundary.y_max.h_table = "low.csv": must be >= 0 [W/(m^2 K)], but has -1'),
        ({"h_table": "fan.csv", "ambient": "20+x*t"}, 'boundary.y_max.ambient = "20+x*t": where h_table is given it may depend on t or on x, y, z, not on both'),
        ({"h": "50+t", "ambient": 20.0}, 'boundary.y_max.h = "50+t": its expression may depend on x, y, z, not on t; for an h that changes with time give h_table'),
        ({"h": 50.0, "h_table": "fan.csv", "ambient": 20.0}, "boundary.y_max.h = 50.0: give either h, or h_file and h_table, one or both, which are multiplied"),
    ],
)
def test_a_bad_one_is_refused(tmp_path, wall, said):
    (tmp_path / "fan.csv").write_text("0 50\n8 500\n")
    (tmp_path / "low.csv").write_text("0 50\n8 -1\n9 3\n")
    code, error = refused(tmp_path, plate({"y_max": {"type": "robin", **wall}}))
    assert code == 2 and said in error, error


def test_a_kernel_that_fuses_sweeps_is_refused(tmp_path):
    (tmp_path / "fan.csv").write_text("0 50\n8 500\n")
    code, error = refused(tmp_path, plate({"y_max": WALL}, solver={"backend": "cpu", "kernel": "conduction_wavefront"}))
    assert code == 2 and "conduction_wavefront cannot do convection whose h changes with time" in error


def test_a_gust_shorter_than_a_step_is_said(tmp_path):
    (tmp_path / "fan.csv").write_text("0 5\n1.3 5\n1.301 50000\n1.302 5\n")
    settings = plate({"y_max": {**WALL, "ambient": "20+sin(t)"}}, time={"end": 8.0, "method": "implicit", "step": 1.0})
    said = command(tmp_path, settings, "check").stdout
    assert 'boundary.y_max.h_table = "fan.csv": the pulse at t = 1.301 s lies between two steps, which are 1 s long, so the run misses it' in said, said


@pytest.mark.parametrize("method", ["rkl2", "implicit"])
def test_steps_within_a_tolerance_see_a_gust(tmp_path, method):
    """Between steps that would be longer than it; by many short steps as the reference, which begins shortly before it."""
    gust = lambda t: f"{t} 0\n{t + 1e-4!r} 2e6\n{t + 2e-4!r} 0\n"
    still = {"initial": {"value": 37.0}}  # as warm as the tissue, so that nothing happens before the gust
    (tmp_path / "fan.csv").write_text("0 0\n" + gust(0.03))
    due = run(tmp_path, plate({"y_max": WALL}, time={"end": 0.1, "method": "rkl2", "step": 2e-5}, **still)).field
    (tmp_path / "fan.csv").write_text("0 0\n" + gust(4.03))
    found = run(tmp_path, plate({"y_max": WALL}, time={"end": 4.1, "method": method, "tolerance": 1e-3}, **still)).field
    assert np.abs(due - 37.0).max() > 0.1  # of which the tolerance is 0.01 at most, and here there is one load
    assert np.abs(found - due).max() < 0.02 * np.abs(due - 37.0).max()


def test_gusts_of_a_table_are_no_choppers_of_an_expression(tmp_path):
    """Steps within a tolerance look at every point of a table, however short what it brings."""
    gusts = "".join(f"{0.04 * n + 0.01!r} 0\n{0.04 * n + 0.0101!r} 900\n{0.04 * n + 0.0102!r} 0\n" for n in range(200))
    (tmp_path / "fan.csv").write_text("0 0\n" + gusts + "8 0\n")
    said = command(tmp_path, plate({"y_max": WALL}, time={"end": 8.0, "method": "implicit", "tolerance": 0.01}), "check").stdout
    assert "OK" in said and "h_table" not in said, said
