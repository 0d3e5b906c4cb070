"""The stability limit as a user sees it: what check reports, what run refuses, which remedies it offers."""

import json
import math
import re

import program
import pytest

# |symbol| of the second difference at theta = pi, times spacing^2, by radius
LARGEST = {1: 4.0, 2: 16.0 / 3.0, 3: 272.0 / 45.0}

AXES = "xyz"


def config(dims, radius, boundary="fixed", points=20, step='"auto"', extra=""):
    spacing = [0.1, 0.2, 0.4][:dims]
    return f"""
grid = {{ points = [{", ".join([str(points)] * dims)}]; spacing = [{", ".join(map(str, spacing))}]; }};
material = {{ conductivity = 2.0; density = 4.0; specific_heat = 5.0; }};
stencil = {{ radius = {radius}; }};
initial = {{ value = 1.0; }};
boundary = {{ all = {{ type = "{boundary}"; {extra} }}; }};
time = {{ sweeps = 10;
         step = {step}; }};
output = {{ file = "out.h5"; overwrite = true; }};
"""


def heatsolve(directory, text, *arguments):
    (directory / "case.cfg").write_text(text)
    command, *options = arguments
    return program.heatsolve(directory, command, "case.cfg", *options, timeout=300)


def limit(directory, text):
    result = heatsolve(directory, text, "check", "--json")
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)["stability_limit"]


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("radius", [1, 2, 3])
def test_check_knows_von_neumanns_limit(tmp_path, dims, radius):
    diffusivity = 2.0 / (4.0 * 5.0)
    rate = sum(1.0 / h**2 for h in [0.1, 0.2, 0.4][:dims])
    known = 2.0 / (diffusivity * LARGEST[radius] * rate)
    # the limit is found to some hundred roundings
    assert limit(tmp_path, config(dims, radius)) == pytest.approx(known, rel=1e-12)


def test_convection_lowers_the_limit(tmp_path):
    """B = 2 h dx/k at both walls: for the mode that is localised at a wall s^2 - B s - 1 = 0."""
    h = 60.0
    B = 2.0 * h * 0.1 / 2.0
    s = -2.0 / (B + math.sqrt(B * B + 4.0))
    known = 2.0 * 0.1**2 / (0.1 * -(s + 1.0 / s - 2.0))
    text = config(1, 1, "robin", points=60, extra=f"h = {h}; ambient = 0.0;")
    assert limit(tmp_path, text) == pytest.approx(known, rel=1e-12)  # 60 nodes: s^60 is below rounding
    assert known < 0.5 * limit(tmp_path, config(1, 1))


@pytest.mark.parametrize("radius", [1, 3])
def test_a_step_above_the_limit_is_refused_and_the_one_offered_runs(tmp_path, radius):
    text = config(2, radius, "robin", extra="h = 3.0; ambient = 0.0;")
    largest = limit(tmp_path, text)
    above = text.replace('"auto"', f"{1.001 * largest!r}")
    result = heatsolve(tmp_path, above, "run")
    assert result.returncode == 2
    assert not list(tmp_path.glob("*.h5"))
    line = 1 + above[: above.index("step =")].count("\n")
    assert result.stderr.startswith(f"heatsolve: case.cfg:{line}: time.step = ")
    assert f"above the stability limit of {largest:.9g} s" in result.stderr
    offered = re.search(r"give at most ([0-9.e+-]+),", result.stderr).group(1)
    assert largest * 0.9999 < float(offered) <= largest
    result = heatsolve(tmp_path, text.replace('"auto"', offered), "run", "--quiet")
    assert result.returncode == 0, result.stderr


def test_a_step_from_the_command_line_is_named_as_such(tmp_path):
    result = heatsolve(tmp_path, config(1, 1), "run", "--set", "time.step=1e9")
    assert result.returncode == 2
    assert "--set: time.step = 1e+09: above the stability limit" in result.stderr


def test_raw_coefficients_that_grow_are_refused_with_their_factor(tmp_path):
    raw = """
grid = { points = [20]; };
stencil = { radius = 1; c0 = 0.5; c1 = 0.3; c2 = 0.3; };
initial = { value = 1.0; };
time = { sweeps = 10; };
output = { file = "out.h5"; overwrite = true; };
"""
    result = heatsolve(tmp_path, raw, "run")
    assert result.returncode == 2
    assert "multiplies some mode by 1.1," in result.stderr
    assert not list(tmp_path.glob("*.h5"))
    result = heatsolve(tmp_path, raw.replace("0.5", "0.4"), "run", "--quiet")
    assert result.returncode == 0, result.stderr


def jacobi(weight, end):
    return f"""
grid = {{ points = [9, 9, 9]; }};
stencil = {{ c0 = 0.0; {" ".join(f"c{n} = {weight};" for n in range(1, 7))} }};
initial = {{ value = 300.0; }};
boundary = {{ all = {{ type = "reflective"; }}; }};
{end}
output = {{ file = "out.h5"; overwrite = true; }};
"""


SWEEPS, STEADY = "time = { sweeps = 100000; };", "steady = { tolerance = 1e-9; };"


@pytest.mark.parametrize("end", [SWEEPS, STEADY])
def test_raw_coefficients_that_just_miss_1_are_a_warning(tmp_path, end):
    """300 K between insulated walls were 201 K after 100000 sweeps of 0.166666, without a word."""
    told = heatsolve(tmp_path, jacobi("0.166666", end), "check")
    factor = "100000 sweeps multiply a level field by 0.67032;" if end == SWEEPS else "81 sweeps multiply a level field by 0.999676;"
    wanted = f"stencil: the coefficients add up to 0.999996, so {factor}"
    assert told.returncode == 0 and wanted in told.stdout, told.stdout
    for weight in "0.1666666667", "0.16":  # right to 2e-5, and far too small to be a slip
        told = heatsolve(tmp_path, jacobi(weight, end), "check")
        assert told.returncode == 0 and "warning" not in told.stdout, told.stdout


TURNING = """
grid = { points = [12, 8]; upper = [1.1, 0.7]; };
stencil = { c0 = 0.0; c1 = 0.25; c2 = 0.25; c3 = 0.25; c4 = 0.25; };
initial = { expression = "x > 0.35 && x < 0.45 && y < 0.05 ? 96 : 0"; };
boundary = { all = { type = "reflective"; }; };
time = { sweeps = 20000; };
steady = { tolerance = 1e-6; };
output = { file = "out.h5"; overwrite = true; };
"""


def test_a_chequerboard_that_no_sweep_damps_is_a_warning(tmp_path):
    """check predicted 300 sweeps for Jacobi's with insulated walls, which never end: half of the heat turns over."""
    told = heatsolve(tmp_path, TURNING, "run")
    wanted = "case.cfg:7: steady.tolerance: no wall damps a chequerboard, and each sweep multiplies it by -1; "
    assert told.returncode == 1 and wanted in told.stderr and "give a larger c0" in told.stderr, told.stderr
    material = re.sub("stencil = .*", "material = { diffusivity = 1.0; };", TURNING)
    limit = material.replace("sweeps = 20000", "sweeps = 20000; safety = 1.0")
    told = heatsolve(tmp_path, limit, "check")
    assert wanted in told.stdout and "give a time.safety below 1" in told.stdout, told.stdout
    damped = TURNING.replace("c0 = 0.0", "c0 = 0.2").replace("0.25", "0.2")
    held = TURNING.replace('"reflective"; };', '"reflective"; }; x_min = { type = "dirichlet"; value = 0.0; };')
    for text in damped, held, material:
        told = heatsolve(tmp_path, text, "run")
        assert told.returncode == 0 and "warning" not in told.stderr, told.stderr


def test_raw_coefficients_that_just_exceed_1_want_decimals(tmp_path):
    told = heatsolve(tmp_path, jacobi("0.16667", SWEEPS), "check")
    wanted = "multiplies some mode by 1.00002, on a grid of many nodes, so a run would blow up; give them more decimals"
    assert told.returncode == 2 and wanted in told.stderr, told.stderr


def test_a_stable_step_stays_stable_from_noise(tmp_path):
    """At 0.98 of the limit, with strong convection, clamp and every radius: no value exceeds the initial ones."""
    for radius in (1, 2, 3):
        text = config(2, radius, "robin", points=16, extra="h = 200.0; ambient = 0.0;")
        text = text.replace("boundary = {", 'boundary = { x_max = { type = "clamp"; };')
        text = text.replace("value = 1.0", 'expression = "sin(1e4*x+7e3*y*y)"')
        text = text.replace("sweeps = 10", "sweeps = 3000; safety = 0.98")
        result = heatsolve(tmp_path, text, "run", "--json")
        assert result.returncode == 0, result.stderr
        summary = json.loads(result.stdout)
        assert abs(summary["min"]) < 1.0 and abs(summary["max"]) < 1.0


def swept_once(directory, points, b, step, safety=0.9):
    """Lowest and highest after a sweep of 100 K in a corner between convecting walls at 0, with h spacing/k = b."""
    text = f"""
grid = {{ points = {points}; spacing = {[1.0] * len(points)}; }};
material = {{ conductivity = 1.0; density = 1.0; specific_heat = 1.0; }};
initial = {{ expression = "{" && ".join(f"{a} == 0" for a in AXES[: len(points)])} ? 100 : 0"; }};
boundary = {{ all = {{ type = "robin"; h = {b!r}; ambient = 0.0; }}; }};
time = {{ sweeps = 1; step = {step}; safety = {safety}; }};
output = {{ file = "out.h5"; overwrite = true; }};
"""
    summary = json.loads(heatsolve(directory, text, "run", "--json", "--quiet").stdout)
    return summary["min"], summary["max"]


@pytest.mark.parametrize("points", [[9], [9, 3], [5, 5, 5]])
@pytest.mark.parametrize("b", [1e-3, 0.3, 1.0, 30.0])
def test_no_sweep_makes_a_new_extreme_while_the_centre_counts(tmp_path, points, b):
    """The maximum principle of docs/numerics.md holds up to 1/sum of 2 (1 + b); half the limit is never longer."""
    most = 1.0 / (len(points) * 2.0 * (1.0 + b))
    assert swept_once(tmp_path, points, b, repr(most))[0] >= -1e-13  # rounding of 100
    assert swept_once(tmp_path, points, b, '"auto"', 0.5)[0] >= -1e-13
    if b >= 0.3:
        assert swept_once(tmp_path, points, b, repr(1.01 * most))[0] < -0.5


def test_the_limit_of_a_tiny_grid_is_on_the_safe_side(tmp_path):
    """One free node between two held ones is multiplied by 1 - 2 r: r = 1 is stable; the limit stays that of any
    grid."""
    assert limit(tmp_path, config(1, 1, "fixed", points=3)) == pytest.approx(0.5 * 0.1**2 / 0.1, rel=1e-12)
