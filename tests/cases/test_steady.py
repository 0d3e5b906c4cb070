"""Searches for a steady state: the reported distance against the true one, to a converged field; how a search ended;
what check predicts; and that the remedies in the messages work.
"""

import json
import re

import h5py
import numpy as np
import pytest
from helpers import command, config
from program import must

WATER = {"conductivity": 2.0, "density": 2.0, "specific_heat": 1.0}
PLAIN = {"diffusivity": 1.0}


def wall(kind, **keys):
    return {"type": kind, **keys}


def cold(**hot):
    return {"all": wall("dirichlet", value=300.0), **{face: wall("dirichlet", value=v) for face, v in hot.items()}}


def case(points, boundary, initial="300", material=PLAIN, upper=None, **more):
    grid = {"points": points, "upper": upper or [1.0] * len(points)}
    return {"grid": grid, "material": material, "initial": {"expression": initial}, "boundary": boundary, **more}


CASES = {
    "rod": case([65], cold(x_max=400.0)),
    "second mode": case([65], cold(), "300+100*sin(2*pi*x)"),
    "plate": case([33, 33], cold(x_max=400.0)),
    "long plate": case([129, 17], cold(y_max=400.0), upper=[8.0, 1.0]),
    "close modes": case([33, 31], cold(), "300+100*x*x*y*(1-y)", upper=[1.0, 0.95]),
    "block": case([33, 33, 33], cold(x_max=400.0)),
    "block with a source": case([33, 33, 33], cold(), source={"value": 1000.0}),
    "convection": case(
        [65],
        {"x_min": wall("robin", h=1.0, ambient=300.0), "x_max": wall("robin", h=5.0, ambient=400.0)},
        material=WATER,
    ),
    "hot corner": case(
        [33, 33], {"all": wall("robin", h=0.5, ambient=300.0)}, material=WATER, source={"expression": "x<0.3&&y<0.4?5000:0"}
    ),
    "a wall of each kind": case(
        [21, 21, 21],
        {
            "x_min": wall("robin", h=1.0, ambient=300.0),
            "x_max": wall("neumann", flux=-200.0),
            "y_min": wall("reflective"),
            "y_max": wall("constant", value=320.0),
            "z_min": wall("clamp"),
            "z_max": wall("dirichlet", value=310.0),
        },
        material=WATER,
        source={"value": 100.0},
    ),
    "insulated": case([65], {"all": wall("reflective")}, "300+100*x"),
    "flux through": case([65], {"x_min": wall("neumann", flux=-100.0), "x_max": wall("neumann", flux=100.0)}, material=WATER),
    "periodic": case([64, 64], {"all": wall("periodic")}, "300+100*exp(-((x-0.5)^2+(y-0.5)^2)/0.02)"),
    "radius 3": case([41, 41], {"all": wall("fixed")}, "300+100*x*y*y", stencil={"radius": 3}),
    "radius 2": case([41, 41], {"all": wall("clamp"), "x_min": wall("constant", value=350.0)}, stencil={"radius": 2}),
}


BODY = {
    "materials": [
        {"name": "steel", "conductivity": 15.0, "density": 7900.0, "specific_heat": 480.0},
        {"name": "foam", "conductivity": 0.05, "density": 30.0, "specific_heat": 1400.0},
    ],
    "contacts": [{"between": ["steel", "foam"], "resistance": 0.1}],
}
HALF = {"material": "foam", "shape": "box", "lower": [0.3], "upper": [0.5]}
BODIES = {
    "layers": case([41], cold(x_max=400.0), material=None, body=[{"material": "steel"}, HALF], **BODY),
    "disc": case(
        [21, 16],
        {"all": wall("reflective"), "x_min": wall("robin", h=20.0, ambient=300.0)},
        material=None,
        source={"value": 2000.0},
        body=[{"material": "foam"}, {"material": "steel", "shape": "sphere", "centre": [0.4, 0.5], "radius": 0.3}],
        **BODY,
    ),
    "insulated body": case(
        [31, 31],
        {"all": wall("reflective")},
        "300+100*x",
        material=None,
        body=[{"material": "steel"}, {"material": "foam", "shape": "half-space", "point": [0.4, 0.5], "normal": [1.0, 0.4]}],
        **BODY,
    ),
}
for body in BODIES.values():
    del body["material"]
CASES = {**CASES, **BODIES}


def heatsolve(directory, verb, settings, *options, name="case"):
    again = ["--overwrite"] if verb == "run" and "--resume" not in options else []
    return command(directory, settings, verb, "--json", *again, *options, name=name)


def search(directory, settings, tolerance, code=0, name="case", every=20):
    """The summary, the last field and the attributes of a search."""
    result = heatsolve(directory, "run", {**settings, "steady": {"tolerance": tolerance, "check_every": every}}, name=name)
    assert result.returncode == code, result.stderr
    with h5py.File(directory / f"{name}.h5") as f:
        return json.loads(result.stdout), f["temperature"][-1].astype(float), dict(f.attrs)


def distance(field, steady):
    return np.abs(field - steady).max()


# ---- the estimate --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_the_distance_is_the_true_one(tmp_path, name):
    """To 10 %: a change whose halving times grow, by up to a factor of 1.25, has a rate too large by at most that;
    within 3 % was seen here. The true distance is to a field searched with 1e-6 of the tolerance, itself as far off."""
    _, steady, _ = search(tmp_path, CASES[name], 1e-11, name="long")
    for tolerance in (1e-3, 1e-5):
        summary, field, attributes = search(tmp_path, CASES[name], tolerance)
        true = distance(field, steady)
        assert summary["status"] == "steady" and summary["steady_change"] < tolerance
        assert summary["steady_distance"] == pytest.approx(true, rel=0.1)
        keys = ["tolerance", "change", "distance"]
        if name == "insulated body":  # for which no bound is known
            assert summary["steady_distance_most"] is None
        else:
            assert true <= summary["steady_distance_most"] <= (1.5 if name in BODIES else 10) * true
            keys.append("distance_most")
        for key in keys:
            assert attributes[f"steady_{key}"] == pytest.approx(summary[f"steady_{key}"], rel=1e-12)


@pytest.mark.parametrize("name", ["rod", "plate", "block", "convection", "insulated"])
def test_float_says_where_it_stands_still(tmp_path, name):
    """With a tolerance that float cannot resolve no node changes any more, at a distance of up to half a spacing of
    floats over the slowest mode's decay; with 16 roundings in each sweep it is less, down to a third."""
    steady = search(tmp_path, CASES[name], 1e-11, name="long")[1]
    summary, field, _ = search(tmp_path, {**CASES[name], "precision": "float"}, 1e-7)
    true = distance(field, steady)
    assert true > 1e3 * 1e-7  # the tolerance suggests at most 1e-7 / 0.001
    assert true / 3 < summary["steady_distance"] < 3 * true
    result = heatsolve(tmp_path, "check", {**CASES[name], "precision": "float", "steady": {"tolerance": 1e-7}})
    assert json.loads(result.stdout)["steady_distance"] == pytest.approx(summary["steady_distance"], rel=0.3)


def test_the_summary_says_that_float_cannot_tell_it(tmp_path):
    settings = {**CASES["rod"], "precision": "float", "steady": {"tolerance": 1e-7}}
    settings["output"] = {"file": "case.h5"}
    (tmp_path / "case.cfg").write_text(config(settings))
    for verb in ("run", "check"):
        told = must(tmp_path, verb, "case.cfg")
        assert re.search(r"float (resolves|cannot resolve changes below)", told), told


@pytest.mark.parametrize("tolerance, warned", [(1e-2, True), (1e-3, True), (1e-5, False)])
def test_an_end_far_from_the_steady_state_is_a_warning(tmp_path, tolerance, warned):
    """Insulation between plates of 30 and 10 degC, at 20: at 1e-2 K a sweep one flux was 2.3 times that of the end."""
    (tmp_path / "case.cfg").write_text(config({
        "grid": {"points": [101], "upper": [0.05]}, "material": {"conductivity": 0.035, "density": 30.0, "specific_heat": 1400.0}, "initial": {"value": 20.0},
        "boundary": {"x_min": wall("robin", h=10.0, ambient=30.0), "x_max": wall("dirichlet", value=10.0)},
        "steady": {"tolerance": tolerance}, "output": {"file": "case.h5"}}))  # fmt: skip
    summary = json.loads(must(tmp_path, "run", "case.cfg", "--json", "--quiet"))
    found = [w for w in summary["warnings"] if "it lets the steady state be off by" in w]
    assert len(found) == warned and (summary["steady_distance"] > 0.01 * (summary["max"] - 10.0)) == warned, summary
    assert not warned or found[0].startswith("case.cfg:") and f"steady.tolerance = {tolerance:g}: it lets the steady state" in found[0]


def test_a_slow_mode_that_is_hidden_is_within_the_bound(tmp_path):
    """Along the bar a mode of 0.1 K lasts 80 times as long as the 100 K across it."""
    boundary = {"all": wall("reflective"), "x_min": wall("dirichlet", value=300.0), "x_max": wall("dirichlet", value=300.0)}
    settings = case([101, 11], boundary, "300+100*cos(pi*y)+0.1*sin(pi*x/10)", upper=[10.0, 1.0])
    steady = search(tmp_path, settings, 1e-11, name="long")[1]
    summary, field, _ = search(tmp_path, settings, 1e-4)
    true = distance(field, steady)
    assert summary["steady_distance"] < 0.1 * true < true < summary["steady_distance_most"]


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_a_single_mode_is_exact(tmp_path, dims):
    """The product of sines is the slowest mode: the distance is its centre's value, its change over its decay."""
    mode = "*".join(f"sin(pi*{a})" for a in "xyz"[:dims])
    summary, field, _ = search(tmp_path, case([33] * dims, {"all": wall("dirichlet", value=0.0)}, f"100*{mode}"), 1e-7)
    assert summary["steady_distance"] == pytest.approx(field.max(), rel=1e-4)


LEAKING = case(
    [21, 21],
    {"all": wall("reflective"), "x_min": wall("dirichlet", value=400.0), "x_max": wall("robin", h=1.0, ambient=300.0)},
    material={"conductivity": 1.0, "density": 1.0, "specific_heat": 1.0},
)


@pytest.mark.parametrize("step", [0.002, 0.05, 0.25, 0.5])
def test_a_step_without_an_error_in_time_is_no_sweep(tmp_path, step):
    """Steps of 0.008 to 2 time constants of the slowest mode, 3 to 800 times the longest stable sweep. To 10 %, too."""
    steady = search(tmp_path, LEAKING, 1e-11, name="long")[1]
    settings = {**LEAKING, "time": {"method": "exponential", "step": step, "sweeps": 100000}}
    for tolerance in (1e-3, 1e-6):
        summary, field, _ = search(tmp_path, settings, tolerance, every=1)
        true = distance(field, steady)
        assert summary["steady_distance"] == pytest.approx(true, rel=0.1)
        assert true <= summary["steady_distance_most"]
        result = heatsolve(tmp_path, "check", {**settings, "steady": {"tolerance": tolerance, "check_every": 1}})
        estimate = json.loads(result.stdout)
        assert estimate["steady_distance"] / tolerance == pytest.approx(true / summary["steady_change"], rel=0.1)
        assert estimate["steady_sweeps"] == pytest.approx(summary["sweeps"], rel=0.1, abs=2)


def test_a_mode_that_swings_is_one(tmp_path):
    """One free node between two held ones, of two materials: each sweep multiplies its distance by -0.8."""
    body = [{"material": "steel"}, {"material": "foam", "shape": "box", "lower": [0.5], "upper": [1.0]}]
    swings = case([3], cold(x_max=400.0), "390", body=body, **BODY)
    del swings["material"]
    steady = search(tmp_path, swings, 1e-12, name="long", every=1)[1]
    for tolerance in (1e-2, 1e-6):
        summary, field, _ = search(tmp_path, swings, tolerance, every=1)
        true = distance(field, steady)
        assert summary["steady_distance"] == pytest.approx(true, rel=1e-4)  # except for half an ulp of 400
        assert true <= summary["steady_distance_most"]
        estimate = json.loads(heatsolve(tmp_path, "check", {**swings, "steady": {"tolerance": tolerance, "check_every": 1}}).stdout)
        assert estimate["steady_sweeps"] == pytest.approx(summary["sweeps"], abs=3)


# ---- check ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(set(CASES) - {"second mode"}))
def test_check_foretells_the_sweeps(tmp_path, name):
    """Within 1.4: the slowest mode's amplitude is known to a factor of 3 or so, over 13 e-foldings and more."""
    summary, _, _ = search(tmp_path, CASES[name], 1e-6)
    result = heatsolve(tmp_path, "check", {**CASES[name], "steady": {"tolerance": 1e-6, "check_every": 20}})
    estimate = json.loads(result.stdout)
    assert 1 / 1.4 < estimate["steady_sweeps"] / summary["sweeps"] < 1.4
    assert estimate["steady_distance"] == pytest.approx(summary["steady_distance"], rel=0.1)
    assert estimate["steady_seconds"] > 0


HOT = {"shape": "box", "lower": [0.4, 0.51], "upper": [0.6, 0.555], "value": 1000.0}
SPOTS = {
    "a region": {"initial": {"value": 300.0, "regions": [HOT]}},
    "a source": {"source": {"expression": "abs(x-53/128)<0.004 && abs(y-53/128)<0.004 ? 1e7 : 0"}},
    "a wall": {"boundary": {"all": wall("dirichlet", value=300.0), "x_min": wall("neumann", gradient="abs(y-53/128)<0.004 ? 1e5 : 0")}},
}


@pytest.mark.parametrize("name", SPOTS)
def test_check_finds_what_heats_few_nodes(tmp_path, name):
    """Spots between 17 rows, or 64 nodes along an axis; the slowest mode's share is known to a factor of 100 or so."""
    spot = {**case([129, 129], cold()), **SPOTS[name]}
    summary, _, _ = search(tmp_path, spot, 1e-4)
    result = heatsolve(tmp_path, "check", {**spot, "steady": {"tolerance": 1e-4, "check_every": 20}})
    assert 1 / 2 < json.loads(result.stdout)["steady_sweeps"] / summary["sweeps"] < 2


def test_check_gives_the_tolerance_for_a_distance(tmp_path):
    """A distance of 1 K corresponds to a tolerance equal to the slowest mode's decay in a sweep."""
    settings = CASES["convection"]
    result = heatsolve(tmp_path, "check", {**settings, "steady": {"tolerance": 1e-6}})
    tolerance = 0.01 * json.loads(result.stdout)["steady_decay"]
    steady = search(tmp_path, settings, 1e-11, name="long")[1]
    _, field, _ = search(tmp_path, settings, tolerance)
    assert distance(field, steady) == pytest.approx(0.01, rel=0.1)


def test_check_says_when_the_sweeps_are_too_few(tmp_path):
    settings = {**CASES["rod"], "steady": {"tolerance": 1e-6}, "time": {"sweeps": 1000}, "output": {"file": "case.h5"}}
    (tmp_path / "case.cfg").write_text(config(settings))
    assert "NOT within these 1000" in must(tmp_path, "check", "case.cfg")


@pytest.mark.parametrize("method", ["euler", "spectral", "exponential"])
def test_check_says_no_time_where_none_is_measured(tmp_path, method):
    """A method that jumps takes the same time for any number of sweeps."""
    time = {"method": method, "sweeps": 100000, **({"step": 0.05} if method == "exponential" else {})}
    settings = {**LEAKING, "steady": {"tolerance": 1e-6}, "time": time, "output": {"file": "case.h5"}}
    result = heatsolve(tmp_path, "check", settings)
    assert result.returncode == 0 and (json.loads(result.stdout)["steady_seconds"] is None) == (method != "euler")
    told = must(tmp_path, "check", "case.cfg")
    steps = "steps" if method == "exponential" else "sweeps"
    line = re.search(rf"after about \d+ {steps}, t = [\d.e+]+ s(, in about [\d.]+ \w+)?\n", told)
    assert line and (line.group(1) is None) == (method != "euler")
    assert not re.search(r"\bnan\b", told)


# ---- how it came out -----------------------------------------------------------------------------


def outcome(directory, result, name="case"):
    with h5py.File(directory / f"{name}.h5") as f:
        status, finished = f.attrs["status"], f.attrs["finished"]
    assert json.loads(result.stdout)["status"] == status
    assert finished == (result.returncode == 0)
    return status


@pytest.mark.parametrize(
    "time",
    [
        {"sweeps": 5000},
        {"end": 0.55},
        {"end": 0.55, "step": 1e-4},
        {"sweeps": 30},  # too early for a rate
    ],
)
@pytest.mark.parametrize("interval", [None, 0.1, 0.718781])  # the last is longer than the given end
def test_a_search_that_falls_short_can_be_gone_on_with_as_its_message_says(tmp_path, time, interval):
    output = {"file": "case.h5", **({"interval": interval} if interval else {})}
    settings = {**CASES["rod"], "time": time, "steady": {"tolerance": 1e-6}, "output": output}
    result = heatsolve(tmp_path, "run", settings)
    assert result.returncode == 1
    assert outcome(tmp_path, result) == "not steady"
    assert "steady.tolerance = 1e-06: not reached after" in result.stderr and "from the steady state" in result.stderr
    remedy = re.search(r"continue with (--resume .*)$", result.stderr, re.MULTILINE).group(1)
    again = heatsolve(tmp_path, "run", settings, *remedy.split())
    assert again.returncode == 0, again.stderr
    assert outcome(tmp_path, again) == "steady"


def test_a_search_that_fell_short_is_known_to_whoever_goes_on(tmp_path):
    """With no sweeps left its numbers stay, and a tolerance that they satisfy counts as reached."""
    settings = {**CASES["rod"], "time": {"sweeps": 300}, "output": {"file": "case.h5"}}

    def numbers(tolerance, *arguments):
        result = heatsolve(tmp_path, "run", {**settings, "steady": {"tolerance": tolerance}}, *arguments)
        with h5py.File(tmp_path / "case.h5") as f:
            told = [f.attrs[key] for key in ("steady_change", "steady_distance", "steady_distance_most")]
        return outcome(tmp_path, result), told

    first = numbers(1e-6)
    assert first[0] == "not steady" and np.isfinite(first[1]).all()
    assert numbers(1e-6, "--resume") == first
    assert numbers(2 * first[1][0], "--resume") == ("steady", first[1])


def test_an_error_above_its_bound_is_a_failed_check(tmp_path):
    settings = case([17], cold(), "300+100*sin(pi*x)", time={"end": 0.01}, exact={"expression": "300", "max_error": 1e-3})
    result = heatsolve(tmp_path, "run", settings)
    assert result.returncode == 1
    assert outcome(tmp_path, result) == "failed check"
    settings["exact"]["max_error"] = 1000.0
    result = heatsolve(tmp_path, "run", settings)
    assert (result.returncode, outcome(tmp_path, result)) == (0, "finished")
    # nothing is left to do, and the error of the last snapshot is the one in the file
    again = heatsolve(tmp_path, "run", settings, "--resume")
    assert (again.returncode, outcome(tmp_path, again)) == (0, "finished"), again.stderr


def test_a_search_that_is_over_is_steady(tmp_path):
    result = heatsolve(tmp_path, "run", {**CASES["rod"], "steady": {"tolerance": 1e-6}})
    assert (result.returncode, outcome(tmp_path, result)) == (0, "steady")


@pytest.mark.parametrize("name", ["rod", "float", "drift", "in time"])
def test_a_search_that_is_over_has_nothing_left_to_do(tmp_path, name):
    """Like a timed run that has ended. A larger tolerance is reached, too; with a smaller one the run goes on."""
    settings = {**CASES["rod"], "precision": "float" if name == "float" else "double"}
    if name == "drift":
        settings.update(boundary={"all": wall("reflective")}, source={"value": 5.0})
    elif name == "in time":
        settings.update(boundary={"x_min": wall("dirichlet", value=300.0), "x_max": wall("dirichlet", value="300+exp(-50*t)")})
    tolerance = 1.0 if name == "drift" else 1e-4
    told, field, attributes = search(tmp_path, settings, tolerance)

    def again(tolerance):
        keys = {**settings, "steady": {"tolerance": tolerance, "check_every": 20}}
        result = heatsolve(tmp_path, "run", keys, "--resume")
        assert (result.returncode, outcome(tmp_path, result)) == (0, "steady"), result.stderr
        with h5py.File(tmp_path / "case.h5") as f:
            return json.loads(result.stdout), f["temperature"][:], dict(f.attrs)

    for larger in (1.0, 1.0, 10.0):
        resumed, fields, after = again(larger * tolerance)
        assert resumed["swept"] == 0 and len(fields) == told["snapshots"] and (fields[-1] == field).all()
        for key in ("steady_change", "steady_distance", "steady_distance_most"):
            assert resumed[key] == told[key]
            np.testing.assert_equal(after[key], attributes[key])
    if name != "drift":  # its change stays constant
        resumed, fields, _ = again(0.1 * tolerance)
        assert resumed["swept"] > 0 and len(fields) == told["snapshots"] + 1


# ---- no steady state -----------------------------------------------------------------------------


@pytest.mark.parametrize("holds", [False, True])
def test_check_says_where_its_sweeps_need_a_balance(tmp_path, holds):
    walls = {"all": wall("reflective"), **({"x_min": wall("dirichlet", value=300.0)} if holds else {})}
    settings = {**case([33, 17], walls), "source": {"value": 1.0}, "time": {"sweeps": 2000}, "steady": {"tolerance": 1e-9}}
    told = json.loads(heatsolve(tmp_path, "check", settings).stdout)
    assert told["steady_sweeps"] > 0 and told["steady_if_balanced"] is not holds
    assert ("provided that source and walls balance" in must(tmp_path, "check", "case.cfg")) is not holds


def test_walls_that_change_in_time_have_none(tmp_path):
    settings = case([33], {"x_min": wall("dirichlet", value="300+sin(100*t)"), "x_max": wall("reflective")})
    settings.update(time={"sweeps": 2000}, steady={"tolerance": 1e-9})
    result = heatsolve(tmp_path, "run", settings)
    assert result.returncode == 1
    assert re.search(
        r"last sweep is \S+ K; the distance to the steady state is not known: the walls or the source change with time; "
        r"where they change for ever there is no steady state: leave steady out; where they settle, give",
        result.stderr,
    )
    assert json.loads(result.stdout)["steady_distance"] is None
    assert json.loads(heatsolve(tmp_path, "check", settings).stdout)["steady_sweeps"] is None


# what sets in when the field has long been at rest
LATER = {
    "a source": {"source": {"expression": "t>5?800:0"}},
    "a source, in places": {"source": {"expression": "t>5&&x>0.41&&x<0.59?8000:0"}},
    "a wall": {"boundary": cold(x_max="t>5?400:300")},
    "a ramp": {"boundary": cold(x_max="300+100*min(max(t-5,0),1)")},
    "a table": {"boundary": {"x_min": wall("dirichlet", value=300.0), "x_max": wall("dirichlet", value_table="later.csv")}},
    "a wall that moves": {
        "grid": {"points": [33, 17], "upper": [1.0, 1.0]},
        "material": WATER,
        "boundary": {"all": wall("reflective"), "x_min": wall("robin", h=5.0, ambient=300.0), "x_max": wall("robin", h="5+y", ambient="300+(y+1)*(t>5?100:0)")},
    },
}  # fmt: skip


@pytest.mark.parametrize("name", LATER)
def test_a_field_at_rest_waits_for_what_acts_later(tmp_path, name):
    (tmp_path / "later.csv").write_text("0 300\n5 300\n5.1 400\n")
    settings = {**case([33], cold()), "time": {"end": 60.0}, "steady": {"tolerance": 1e-7}, **LATER[name]}
    result = heatsolve(tmp_path, "run", settings)
    told = json.loads(result.stdout)
    assert (result.returncode, told["status"]) == (0, "steady"), result.stderr
    with h5py.File(tmp_path / "case.h5") as f:
        field, time = f["temperature"][-1], f["time"][-1]
    assert 5.0 < time < 59.0 and field.max() > 310.0


def test_a_search_that_was_over_goes_on_to_what_acts_later(tmp_path):
    """The first end comes before the load."""
    settings = {**case([33], cold()), **LATER["a source"], "steady": {"tolerance": 1e-7}}
    first = heatsolve(tmp_path, "run", {**settings, "time": {"end": 4.0, "step": 4e-4}})
    assert json.loads(first.stdout)["status"] == "steady" and json.loads(first.stdout)["max"] == 300.0
    second = heatsolve(tmp_path, "run", {**settings, "time": {"end": 20.0, "step": 4e-4}}, "--resume")
    assert second.returncode == 0, second.stderr
    assert json.loads(second.stdout)["status"] == "steady" and json.loads(second.stdout)["max"] > 310.0


def test_a_mean_that_drifts_is_noticed_beside_a_field_that_flattens(tmp_path):
    """A third of the change is the inflow: the search meets its tolerance, but far from a steady state."""
    settings = case([21], {"all": wall("reflective")}, "300+10*cos(pi*x)", source={"value": 100.0}, steady={"tolerance": 0.03})
    settings["material"] = {"conductivity": 10.0, "density": 1000.0, "specific_heat": 1000.0}
    result = heatsolve(tmp_path, "run", {**settings, "time": {"sweeps": 9000}})
    told = json.loads(result.stdout)
    assert result.returncode == 0 and told["steady_change"] > 2 * 0.01125
    assert told["steady_distance"] is None and told["steady_distance_most"] is None


def test_an_insulated_body_keeps_its_heat_not_the_mean_of_its_volume(tmp_path):
    settings = {
        "grid": {"points": [21], "upper": [1.0]},
        "materials": [
            {"name": "light", "conductivity": 10.0, "density": 100.0, "specific_heat": 1000.0},
            {"name": "heavy", "conductivity": 10.0, "density": 8000.0, "specific_heat": 5000.0},
        ],
        "body": [{"material": "light"}, {"material": "heavy", "shape": "box", "lower": [0.875], "upper": [1.0]}],
        "contacts": [{"between": ["light", "heavy"], "resistance": 2.0}],
        "initial": {"expression": "x < 0.87 ? 0 : 100"},
        "boundary": {"all": wall("reflective")},
        "time": {"sweeps": 2000},
        "steady": {"tolerance": 1e-4},
    }
    result = heatsolve(tmp_path, "run", settings)
    assert result.returncode == 1 and "more sweeps are needed" in result.stderr, result.stderr
    remedy = re.search(r"continue with (--resume .*)$", result.stderr, re.MULTILINE).group(1)
    result = heatsolve(tmp_path, "run", settings, *remedy.split())
    told = json.loads(result.stdout)
    assert result.returncode == 0, result.stderr
    # light: 1e5 J/(m^3 K); heavy: 4e7 in 0.125 of the length
    assert told["mean"] == pytest.approx(100 * 5e6 / (5e6 + 0.875e5), abs=2 * told["steady_distance"])
    assert 0 < told["steady_distance"] < 3


def test_steps_of_exponential_are_not_called_sweeps(tmp_path):
    settings = case([41], {"all": wall("dirichlet", value=100.0)}, "0")
    settings.update(time={"end": 1.0, "method": "exponential", "step": 0.05}, steady={"tolerance": 1e-6})
    told = heatsolve(tmp_path, "run", settings)
    assert told.returncode == 1
    assert "not reached after 20 steps" in told.stderr and "largest change of the last step is" in told.stderr
    assert re.search("about [0-9]+ more steps are needed", told.stderr) and "sweep" not in told.stderr, told.stderr


def test_a_clamp_keeps_no_mean_of_a_larger_radius(tmp_path):
    settings = case([5], {"x_min": wall("reflective"), "x_max": wall("clamp")}, "20*exp(-(x-0.2)^2/0.1)", stencil={"radius": 2})
    settings.update(time={"sweeps": 30}, steady={"tolerance": 1e-12})
    result = heatsolve(tmp_path, "run", settings)
    assert result.returncode == 1 and "more sweeps are needed" in result.stderr, result.stderr


def test_heat_that_no_wall_takes_out_has_none(tmp_path):
    settings = case([33], {"all": wall("reflective")}, source={"value": 5.0}, steady={"tolerance": 1e-9}, time={"sweeps": 9000})
    result = heatsolve(tmp_path, "run", settings)
    assert result.returncode == 1
    assert "no steady state in sight: the mean drifts, or the change no longer falls" in result.stderr
    assert json.loads(result.stdout)["steady_distance"] is None
    # nor is it one if the drift is below the tolerance
    settings["steady"]["tolerance"] = 1.0
    assert json.loads(heatsolve(tmp_path, "run", settings).stdout)["steady_distance"] is None
