"""Steps of many sweeps: whole runs of rkl2 against exact answers and against other methods, their order in time, the
same bits for kernels and threads, and what is reported and refused.
"""

import json
import os
import re
import signal
import time

import h5py
import numpy as np
import pytest
from helpers import AXES, BACKEND, assert_order, command, config, refused, run
from program import heatsolve, must, start, wait_for

CONDUCTIVITY, CAPACITY, H = 4.0, 2.0, 6.0
MATERIAL = {"conductivity": CONDUCTIVITY, "density": 8.0, "specific_heat": 0.25}
FACES = [f"{a}_{side}" for a in AXES for side in ("min", "max")]


def rkl2(end, steps):
    return {"end": end, "step": end / steps, "method": "rkl2"}


# ---- order in time ----------------------------------------------------------------------------

# A quadratic field is exact in space, so only the error in time is left.
WAVE, RATE = "(1+sin(3*t))", "3*cos(3*t)"
SHAPE = "(x^2+0.5*x*y-0.7*y^2+x)"  # its Laplacian is 0.6
SLOPE = {"x": "(2*x+0.5*y+1)", "y": "(0.5*x-1.4*y)"}
FIELD = f"2+{WAVE}*{SHAPE}"


def wall(kind, axis, side):
    outward = f"({'-' if side == 'min' else ''}{WAVE}*{SLOPE[axis]})"
    return {
        "dirichlet": {"type": "dirichlet", "value": FIELD},
        "neumann": {"type": "neumann", "flux": f"-{CONDUCTIVITY}*{outward}"},
        "robin": {"type": "robin", "h": H, "ambient": f"{FIELD}+{CONDUCTIVITY / H!r}*{outward}"},
    }[kind]


def waving(kinds, operator):
    """A field that oscillates in time, with its walls and source. The operator: a stencil of this radius, or a body."""
    settings = {
        "grid": {"points": [41, 33], "upper": [1.0, 0.8]},
        "initial": {"expression": FIELD},
        "source": {"expression": f"{CAPACITY}*{RATE}*{SHAPE}-{CONDUCTIVITY}*0.6*{WAVE}"},
        "boundary": {face: wall(kind, *face.split("_")) for face, kind in zip(FACES, kinds)},
        "exact": {"expression": FIELD},
    }
    if operator == "body":
        body = {"materials": [{"name": "one", **MATERIAL}, {"name": "same", **MATERIAL}], "body": [{"material": "one"}]}
        body["body"].append({"material": "same", "shape": "box", "lower": [0.0, 0.0], "upper": [0.5, 0.5]})
        return {**settings, **body}
    return {**settings, "material": MATERIAL, "stencil": {"radius": operator}}


# with few steps the waves from the walls' data decay faster, so the observed orders approach 2 from above
@pytest.mark.parametrize(
    "kinds, operator",
    [
        (["dirichlet"] * 4, 1),
        (["dirichlet", "neumann", "robin", "dirichlet"], 1),
        (["neumann", "robin", "neumann", "dirichlet"], 1),
        (["robin", "neumann", "robin", "neumann"], 2),
        (["robin", "neumann", "robin", "robin"], 3),
        (["dirichlet", "neumann", "robin", "dirichlet"], "body"),
    ],
)
def test_order_2_in_time_with_walls_and_a_source_that_change(tmp_path, kinds, operator):
    errors = []
    for steps in (80, 160, 320):
        settings = {**waving(kinds, operator), "time": rkl2(1.0, steps)}
        errors.append(run(tmp_path, settings, f"n{steps}").error())
    assert_order(errors, 1.9, 2.3, f"{kinds} {operator}")


PULLED = {
    "grid": {"points": [49, 13], "upper": [0.6, 0.15]},
    "initial": {"expression": "300+20*sin(9*x)"},
    "source": {"expression": "4e2*sin(5*t)*x"},
    "boundary": {
        "x_min": {"type": "dirichlet", "value": "300+60*sin(4*t)+100*y"},
        "x_max": {"type": "dirichlet", "value": "300+20*t^2"},
        "y_min": {"type": "robin", "h": 30.0, "ambient": "310+20*cos(6*t)"},
        "y_max": {"type": "neumann", "flux": "300*sin(7*t)"},
    },
}
LAYERS = {
    "materials": [{"name": "one", **MATERIAL}, {"name": "other", **MATERIAL, "conductivity": 0.4}],
    "contacts": [{"between": ["one", "other"], "resistance": 0.05}],
    "body": [{"material": "one"}, {"material": "other", "shape": "box", "lower": [0.2, 0.05], "upper": [0.35, 0.15]}],
}


@pytest.mark.parametrize("operator", [1, 2, 3, "body"])
def test_it_comes_to_what_short_sweeps_come_to(tmp_path, operator):
    more = LAYERS if operator == "body" else {"material": MATERIAL, "stencil": {"radius": operator}}
    settings = {**PULLED, **more}
    end, euler = 0.4, []
    for safety in (0.5, 0.25):
        euler.append(run(tmp_path, {**settings, "time": {"end": end, "safety": safety}}, f"s{safety}").field)
    limit = 2.0 * euler[1] - euler[0]  # extrapolated: removes the first order in the step
    errors = []
    for steps in (40, 80, 160):
        field = run(tmp_path, {**settings, "time": rkl2(end, steps)}, f"n{steps}").field
        errors.append(np.abs(field - limit).max())
    assert_order(errors, 1.8, 2.6, f"{operator}")


def test_walls_that_stay_have_order_2(tmp_path):
    settings = {
        "grid": {"points": [65, 65], "upper": [1.0, 1.0]},
        "material": {"diffusivity": 1.0},
        "initial": {"expression": "exp(-20*((x-0.4)^2+(y-0.6)^2))"},
        "boundary": {"all": {"type": "dirichlet", "value": 0.0}},
    }
    exact = run(tmp_path, {**settings, "time": {"end": 0.05, "method": "exponential"}}, "exact").field
    errors = []
    for steps in (20, 40, 80):
        field = run(tmp_path, {**settings, "time": rkl2(0.05, steps)}, f"n{steps}").field
        errors.append(np.abs(field - exact).max())
    assert_order(errors, 1.9, 2.2)


# ---- monotone ---------------------------------------------------------------------------------


def box(dims, points, steps, kind):
    lower, upper = [0.25] * dims, [0.75] * dims
    return {
        "grid": {"points": [points] * dims, "upper": [1.0] * dims},
        "material": {"diffusivity": 1.0},
        "initial": {"value": 0.0, "regions": [{"shape": "box", "lower": lower, "upper": upper, "value": 1.0}]},
        "boundary": {"all": {"type": "dirichlet", "value": 0.0} if kind == "dirichlet" else {"type": kind}},
        "time": rkl2(0.02, steps),
        "output": {"every": 1},
    }


def snapshots(directory, settings):
    run(directory, settings)
    with h5py.File(directory / "case.h5") as f:
        fields = f["temperature"][...]
    assert len(fields) == 1 + round(settings["time"]["end"] / settings["time"]["step"])
    return fields


# along one axis without walls that hold, a step of any length is a weighted mean of nodes with non-negative weights
# (docs/numerics.md); 1e-13: rounding of up to 287 stages
@pytest.mark.parametrize("kind", ["periodic", "reflective"])
@pytest.mark.parametrize("steps", [1, 2, 7, 40])
def test_a_box_along_one_axis_is_never_overshot(tmp_path, steps, kind):
    fields = snapshots(tmp_path, box(1, 201, steps, kind))
    assert fields.min() >= -1e-13 and fields.max() <= 1.0 + 1e-13


# for walls that hold, and in 2D and 3D, there is no such proof, and a few long steps do overshoot
@pytest.mark.parametrize("dims, points", [(1, 201), (2, 65), (3, 33)])
@pytest.mark.parametrize("kind", ["dirichlet", "reflective"])
def test_a_box_is_not_overshot_by_20_steps(tmp_path, dims, points, kind):
    fields = snapshots(tmp_path, box(dims, points, 20, kind))
    assert fields.min() >= -1e-13 and fields.max() <= 1.0 + 1e-13
    if dims == 1 and kind == "dirichlet":  # it falls monotonically on both sides of the middle
        slopes = np.diff(fields, axis=1)
        assert slopes[:, :100].min() >= -1e-13 and slopes[:, 100:].max() <= 1e-13


# ---- bits -------------------------------------------------------------------------------------

STEPS = {"time": rkl2(0.4, 24), "output": {"interval": 0.1, "history_every": 5}}


@pytest.mark.parametrize("precision", ["double", "float"])
@pytest.mark.parametrize("operator", [1, "body"])
def test_bits_do_not_depend_on_kernel_or_threads(tmp_path, operator, precision):
    more = LAYERS if operator == "body" else {"material": MATERIAL}
    settings = {**PULLED, **more, **STEPS, "precision": precision}
    solvers = [{"backend": "cpu", "threads": n, "kernel": k} for n in (1, 2) for k in ("auto", "openmp", "reference", "conduction_wavefront", "wavefront")]
    fields = []
    for solver in solvers:
        name = solver["kernel"]
        if (name == "reference" and precision == "float") or (operator == "body") != ("conduction" in name) and name.endswith("wavefront"):
            continue
        run(tmp_path, {**settings, "solver": solver})
        with h5py.File(tmp_path / "case.h5") as f:
            fields.append(f["temperature"][...])
    assert len(fields) >= 6 and len(fields[0]) == 5
    for field in fields[1:]:
        assert np.array_equal(field, fields[0])


STAYS = {
    **PULLED,
    "source": {"expression": "4e2*x"},
    "boundary": {
        "x_min": {"type": "dirichlet", "value": "300+100*y"},
        "x_max": {"type": "dirichlet", "value": 320.0},
        "y_min": {"type": "dirichlet", "value": 290.0},
        "y_max": {"type": "dirichlet", "value": "300+20*x"},
    },
}


# if nothing changes with time openmp makes several stages in a pass, wavefront's kernels a sweep and a sum for each
@pytest.mark.parametrize("precision", ["double", "float"])
@pytest.mark.parametrize("operator", [1, "body"])
def test_passes_have_the_bits_of_sweeps_and_sums(tmp_path, operator, precision):
    more = LAYERS if operator == "body" else {"material": MATERIAL}
    settings = {**STAYS, **more, **STEPS, "precision": precision}
    apart = "conduction_wavefront" if operator == "body" else "wavefront"
    fields, at_once = [], []
    for kernel in ("openmp", apart):
        case = {**settings, "solver": {"backend": "cpu", "kernel": kernel, "threads": 2}}
        at_once.append(json.loads(command(tmp_path, case, "check", "--json").stdout)["sweeps_at_once"])
        run(tmp_path, case)
        with h5py.File(tmp_path / "case.h5") as f:
            fields.append(f["temperature"][...])
    assert at_once[0] > 1 and at_once[1] == 0
    assert np.array_equal(fields[0], fields[1]) and np.ptp(fields[0]) > 10.0


@pytest.mark.parametrize("operator", [2, "body"])
def test_a_run_is_continued_in_the_middle_bit_for_bit(tmp_path, operator):
    more = LAYERS if operator == "body" else {"material": MATERIAL, "stencil": {"radius": 2}}
    settings = {**PULLED, **more, **STEPS}
    whole = run(tmp_path, settings, "whole")
    run(tmp_path, {**settings, "time": {**rkl2(0.4, 24), "end": 0.2}}, "part")
    done = command(tmp_path, settings, "run", "--resume", "--quiet", name="part")
    assert done.returncode == 0, done.stderr
    with h5py.File(tmp_path / "part.h5") as part, h5py.File(tmp_path / "whole.h5") as f:
        assert np.array_equal(part["temperature"][...], f["temperature"][...])
    assert whole.attributes["sweeps"] == 24


def test_a_run_that_a_signal_stopped_goes_on_with_the_same_bits(tmp_path):
    settings = {**PULLED, "material": MATERIAL, "time": rkl2(4.0, 40000), "solver": {"backend": BACKEND}}
    whole = run(tmp_path, settings, "whole")
    (tmp_path / "part.cfg").write_text(config({**settings, "output": {"file": "part.h5"}}))
    started = start(tmp_path, "run", "part.cfg", "--quiet")
    wait_for(tmp_path / "part.h5", started)
    time.sleep(0.05)  # some thousand steps; all of them take a second on one core
    started.send_signal(signal.SIGTERM)
    started.communicate()
    assert started.returncode == 130
    done = command(tmp_path, settings, "run", "--resume", "--quiet", name="part")
    assert done.returncode == 0, done.stderr
    with h5py.File(tmp_path / "part.h5") as part:
        assert np.array_equal(part["temperature"][-1], whole.field)


# ---- within a tolerance -----------------------------------------------------------------------


def within(end, tolerance):
    return {"end": end, "tolerance": tolerance, "method": "rkl2"}


SINE = {
    "grid": {"points": [65, 65], "upper": [1.0, 1.0]},
    "material": {"diffusivity": 1.0},
    "initial": {"expression": "100*sin(pi*x)*sin(pi*y)"},
    "boundary": {"all": {"type": "dirichlet", "value": 0.0}},
}


def test_a_step_is_as_long_as_its_known_error_allows(tmp_path):
    """With many stages a step h has the error A (k h)^3/18, if a field of amplitude A decays as exp(-k t). The steps are
    nine tenths of the one at which this is the tolerance; the first steps double from one to the next."""
    end, tolerance, k = 0.1, 1e-4, 2 * np.pi**2
    report = json.loads(command(tmp_path, {**SINE, "time": within(end, tolerance)}, "run", "--json", "--quiet").stdout)
    at_once = (100 / (18 * tolerance)) ** (1 / 3) / 0.9
    steps = 3 * at_once * (1 - np.exp(-k * end / 3)) + np.log2(100 / (at_once * tolerance))
    # with 9 or more stages their error constant makes a step 0.97 as long; and a planned step is cut into equal ones
    assert 0.95 * steps <= report["steps_made"] <= 1.12 * steps, (report["steps_made"], steps)


def test_a_tolerance_bounds_what_steps_are_off_by(tmp_path):
    bump = {**SINE, "initial": {"expression": "100*exp(-60*((x-0.4)^2+(y-0.6)^2))"}}
    exact = run(tmp_path, {**bump, "time": {"end": 0.02, "method": "exponential"}}, "exact").field
    errors = []
    for tolerance in (1e-1, 1e-2, 1e-3):
        errors.append(np.abs(run(tmp_path, {**bump, "time": within(0.02, tolerance)}).field - exact).max())
        assert errors[-1] <= 10 * tolerance, errors  # ten to sixty steps, each within the tolerance
    # steps are proportional to tolerance^(1/3), errors to the square of the step
    assert_order(errors, 0.4, 0.9, ratio=10.0)


@pytest.mark.parametrize("kinds, operator", [(["dirichlet", "neumann", "robin", "dirichlet"], 1), (["robin", "neumann", "robin", "robin"], "body")])
def test_a_tolerance_follows_what_walls_and_sources_do(tmp_path, kinds, operator):
    errors = []
    for tolerance in (1e-3, 1e-4, 1e-5):
        errors.append(run(tmp_path, {**waving(kinds, operator), "time": within(1.0, tolerance), "output": {"interval": 0.25}}).error())
        assert errors[-1] <= 10 * tolerance, errors
    assert_order(errors, 0.5, 1.1, f"{kinds} {operator}", ratio=10.0)


def test_steps_within_a_tolerance_have_the_same_bits_on_every_kernel(tmp_path):
    """The estimate is the maximum over the nodes, which no order of evaluation changes."""
    settings = {**PULLED, "material": MATERIAL, "time": within(0.4, 0.01), "output": {"interval": 0.1, "history_every": 1}}
    fields = []
    for kernel, threads in (("reference", 1), ("openmp", 1), ("openmp", 2)) if BACKEND == "cpu" else (("basic", 0), ("vector_march", 0)):
        fields.append(run(tmp_path, {**settings, "solver": {"backend": BACKEND, "kernel": kernel, "threads": threads}}).field)
    assert all(np.array_equal(fields[0], field) for field in fields[1:])


def test_a_box_within_a_tolerance_is_not_overshot(tmp_path):
    settings = {**box(1, 201, 1, "dirichlet"), "time": within(0.05, 1e-3), "output": {"interval": 0.01}}
    run(tmp_path, settings)
    with h5py.File(tmp_path / "case.h5") as f:
        fields = f["temperature"][...]
    assert fields.shape == (6, 201) and fields.min() >= -1e-3 and fields.max() <= 1 + 1e-3


def test_a_tolerance_that_rounding_hides_is_refused(tmp_path):
    """In float 3e-5 K at 300 K made the steps so short that none of them changed the field."""
    settings = {**PULLED, "material": MATERIAL, "precision": "float", "initial": {"value": 300.0}}
    status, said = refused(tmp_path, {**settings, "time": within(0.4, 1e-5)})
    assert status == 2 and "float cannot resolve less than 0.0003 K" in said, said
    assert 'time.tolerance = 1e-05' in said and 'precision = "double"' in said
    run(tmp_path, {**settings, "time": within(0.4, 6e-4)})


def test_a_run_within_a_tolerance_goes_on_within_it(tmp_path):
    settings = {**PULLED, "material": MATERIAL, "time": within(0.4, 0.01), "output": {"interval": 0.1}}
    whole = run(tmp_path, settings, "whole").field
    run(tmp_path, {**settings, "time": within(0.2, 0.01)}, "part")
    done = command(tmp_path, settings, "run", "--resume", "--quiet", name="part")
    assert done.returncode == 0, done.stderr
    with h5py.File(tmp_path / "part.h5") as f:
        assert np.abs(f["temperature"][-1] - whole).max() <= 0.01


def test_check_and_summary_say_how_steps_are_cut(tmp_path):
    settings = {**PULLED, "material": MATERIAL, "time": within(0.4, 0.01), "output": {"interval": 0.1}}
    check = json.loads(command(tmp_path, settings, "check", "--json").stdout)
    assert check["sweeps"] == 4 and check["sweeps_per_step"] == 0
    assert check["sweeps_in_all"] is None and check["seconds"] is None
    text = command(tmp_path, settings, "check").stdout
    assert "each is cut so that its error in time is about 0.01 K at most" in text and "time         not measured" in text
    report = json.loads(command(tmp_path, settings, "run", "--json", "--quiet").stdout)
    assert report["steps_made"] - report["steps_refused"] > 8 and report["gcells"] > 0.0
    done = command(tmp_path, settings, "run", "--overwrite")
    assert f"steps        4, cut into {report['steps_made'] - report['steps_refused']}" in done.stdout
    assert re.search(r", cut into \d+( \(and \d+ that were too long\))?, \d+ sweeps in all, in ", done.stdout)
    assert "after 4 steps of 0.1 s" in done.stdout
    with h5py.File(tmp_path / "case.h5") as f:
        assert f.attrs["sweeps_per_step"] == 0 and f.attrs["sweeps"] == 4


# ---- what is said and refused -----------------------------------------------------------------


def test_check_and_summary_tell_steps_from_sweeps(tmp_path):
    settings = {**PULLED, "material": MATERIAL, "time": rkl2(0.4, 24)}
    euler = json.loads(command(tmp_path, {**settings, "time": {"end": 0.4}}, "check", "--json").stdout)
    check = json.loads(command(tmp_path, settings, "check", "--json").stdout)
    stages, limit = check["sweeps_per_step"], check["stability_limit"]
    assert check["sweeps"] == 24 and check["sweeps_in_all"] == 24 * stages
    assert stages % 2 == 1 and (stages**2 + stages - 2) / 4 * 0.9 * limit >= 0.4 / 24
    assert ((stages - 2) ** 2 + stages - 4) / 4 * 0.9 * limit < 0.4 / 24
    assert euler["sweeps_per_step"] == 1 and euler["sweeps_in_all"] == euler["sweeps"]
    field = 8 * 49 * 13  # four more fields, and the padding of their rows
    assert 4 * field <= check["memory_bytes"] - euler["memory_bytes"] <= 4 * 2 * field
    assert check["seconds"] == pytest.approx(check["sweeps_in_all"] * 47 * 13 / check["points_per_second"], rel=0.2)
    text = command(tmp_path, settings, "check").stdout
    assert f"sweeps       {stages} a step, {24 * stages} in all, to t = 0.4 s" in text
    assert check["sweeps_at_once"] == 0 and "each of them a sweep, and a pass for its sum" in text
    done = command(tmp_path, settings, "run")
    assert "step 24/24" in done.stderr
    assert f"steps        24, of {stages} sweeps each, {24 * stages} in all, in " in done.stdout
    assert "after 24 steps of 0.0166667 s" in done.stdout
    assert "heat out" in done.stdout and "balance      closes to" in done.stdout
    report = json.loads(command(tmp_path, settings, "run", "--json", "--quiet", "--overwrite").stdout)
    assert report["method"] == "rkl2" and report["sweeps"] == 24 and report["sweeps_per_step"] == stages
    with h5py.File(tmp_path / "case.h5") as f:
        assert f.attrs["sweeps_per_step"] == stages


@pytest.mark.parametrize("kernel, told", [("openmp", ", up to {} in one pass"), ("wavefront", ""), ("reference", "")])
def test_sweeps_in_one_pass_are_told_if_they_are_several(tmp_path, kernel, told):
    settings = {**STAYS, "material": MATERIAL, "time": rkl2(0.4, 4), "solver": {"backend": "cpu", "kernel": kernel}}
    check = json.loads(command(tmp_path, settings, "check", "--json").stdout)
    text = command(tmp_path, settings, "check").stdout
    assert ("in one pass over the fields" in text) == (told != "") and "1 of them" not in text
    text = command(tmp_path, settings, "run").stdout
    stages, told = check["sweeps_per_step"], told.format(check["sweeps_at_once"])
    assert f"steps        4, of {stages} sweeps each, {4 * stages} in all{told}, in " in text


def test_it_takes_a_kernel_of_single_sweeps_and_none_that_was_tuned(tmp_path):
    settings = {**box(3, 105, 20, "dirichlet"), "output": {}}
    cache = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    (tmp_path / "case.cfg").write_text(config({**settings, "output": {"file": "case.h5"}, "solver": {"backend": "cpu"}}))
    said = {}
    for method in ("rkl2", "euler"):
        setting = [f'--set=time.method="{method}"', "--set=time.step=1e-6"]
        said[method] = json.loads(must(tmp_path, "check", "case.cfg", "--json", *setting, env=cache))
    assert said["rkl2"]["kernel"] == "openmp" and said["euler"]["kernel"] == "wavefront"
    assert said["euler"]["kernel_trial"] and not said["rkl2"]["kernel_trial"]
    done = heatsolve(tmp_path, "tune", "case.cfg", env=cache)
    assert done.returncode == 2 and "tuning times sweeps, which this method does not make by themselves" in done.stderr


RAW = {
    "grid": {"points": [20, 20]},
    "stencil": {"c0": 0.6, "c1": 0.1, "c2": 0.1, "c3": 0.1, "c4": 0.1},
    "initial": {"value": 1.0},
    "boundary": {"all": {"type": "fixed"}},
    "time": {"sweeps": 9, "step": 1.0, "method": "rkl2"},
}


@pytest.mark.parametrize(
    "settings, words",
    [
        (RAW, 'time.method = "rkl2": raw coefficients define sweeps of one length'),
        ({**PULLED, "material": MATERIAL, "time": {"end": 1.0, "method": "rkl2"}}, "its error depends on the step"),
        (
            {**PULLED, "material": MATERIAL, "time": rkl2(1.0, 9), "steady": {"tolerance": 1e-6}},
            "steady.tolerance is about the change of a sweep, and its steps are many sweeps long",
        ),
        (  # it would sweep for ever
            {**PULLED, "material": MATERIAL, "time": {"end": 1e15, "method": "rkl2", "tolerance": 1.0}},
            'and 1e+12 times are the most; look at the smallest cell, give a time.step, or take "implicit"',
        ),
        (
            {**PULLED, "material": MATERIAL, "time": rkl2(1e15, 1)},
            'and 1e+12 times are the most; look at the smallest cell, give a shorter time.step, or take "implicit"',
        ),
        (  # implicit cannot do it either
            {**PULLED, "material": MATERIAL, "stencil": {"radius": 2}, "time": {"end": 1e15, "method": "rkl2", "tolerance": 1.0}},
            "times are the most; look at the smallest cell or give a time.step\n",
        ),
    ],
)
def test_what_it_cannot_do_is_said(tmp_path, settings, words):
    done = command(tmp_path, settings, "run", "--quiet")
    assert done.returncode == 2 and words in done.stderr, done.stderr
