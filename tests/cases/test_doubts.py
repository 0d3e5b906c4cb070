"""Mistakes in units that physics can detect: `check` and `run` warn, with place, key and value, and still exit with 0."""

import json
import pathlib
import re

import h5py
import numpy as np
import pytest
from program import heatsolve, must

STEEL = """\
grid = { points = [51, 21]; upper = [0.5, 0.2]; };
material = { conductivity = 60.5; density = 7854.0; specific_heat = 434.0; };
initial = { expression = "293.15 + x"; };
boundary = { all = { type = "reflective"; };
             x_min = { type = "dirichlet"; value = 300.0; };
             x_max = { type = "robin"; h = 25.0; ambient = 293.15; }; };
time = { end = 600.0; };
"""


def told(tmp_path, settings, *more):
    (tmp_path / "steel.cfg").write_text(STEEL)
    words = [word for setting in settings for word in ("--set", setting)]
    return must(tmp_path, "check", "steel.cfg", *words, *more)


def check(tmp_path, *settings):
    return json.loads(told(tmp_path, settings, "--json"))["warnings"]


def test_warnings_stand_at_the_end_of_the_text(tmp_path):
    slip = ["material.specific_heat=0.434", "boundary.x_max.ambient=20"]
    lines = told(tmp_path, slip).splitlines()
    assert [line.split(None, 1)[1] for line in lines[-2:] if line.startswith("warning ")] == check(tmp_path, *slip)
    assert told(tmp_path, slip, "--quiet") == ""


def test_a_material_on_cells_of_no_given_size_is_a_warning(tmp_path):
    """Without grid.upper a rod of 11 nodes was 10 m long, and sin(pi*x) 0 at each of them."""
    said = "grid.points: nodes are taken to be 1 m apart, 10 m from x_min to x_max; give grid.upper, or grid.spacing"
    text = 'grid = { points = [11]; %s }; %s initial = { expression = "sin(pi*x)"; }; time = { sweeps = 10; };'
    material, raw = "material = { diffusivity = 1.0; };", "stencil = { c0 = 0.5; c1 = 0.25; c2 = 0.25; };"
    for case, wanted in (
        (text % ("", material), [f"rod.cfg:1: {said}"]),
        (text % ("upper = [1.0];", material), []),
        (text % ("spacing = 1.0;", material), []),
        (text % ("", raw), []),
    ):
        (tmp_path / "rod.cfg").write_text(case)
        assert json.loads(must(tmp_path, "check", "rod.cfg", "--json"))["warnings"] == wanted


def test_a_safety_beside_a_step_is_a_warning(tmp_path):
    (warning,) = check(tmp_path, "time.safety=0.5", "time.step=1.0")
    assert warning == "--set: time.safety = 0.5: is for automatic steps, and time.step is given; remove one"
    assert check(tmp_path, "time.safety=0.5") == check(tmp_path, 'time={end=600.0; step="auto"; safety=0.5;}') == []


def test_a_name_that_is_no_text_is_a_warning(tmp_path):
    (tmp_path / "steel.cfg").write_text(STEEL)
    done = heatsolve(tmp_path, "check", "steel.cfg", "--output", b"caf\xe9.h5", text=False)
    assert done.returncode == 0 and b"not UTF-8, makes the .xdmf unreadable" in done.stdout


def test_a_run_begins_with_the_warnings_of_check(tmp_path):
    slip = ["material.specific_heat=0.434", "initial.expression=300+z"]
    warned = check(tmp_path, *slip)
    assert "grid has no z" in warned[0] and "less than any material has" in warned[1]
    words = [word for setting in slip for word in ("--set", setting)]
    for more, wanted in ((["--json"], warned), (["--quiet"], [])):
        done = heatsolve(tmp_path, "run", "steel.cfg", *words, *more, "--overwrite")
        assert done.returncode == 0, done.stderr
        lines = done.stderr.splitlines()
        assert [line.removeprefix("heatsolve: warning: ") for line in lines[: len(warned)] if "warning" in line] == wanted
        assert "warning" not in "".join(lines[len(wanted) :])
        assert "--json" not in more or json.loads(done.stdout)["warnings"] == warned
    done = must(tmp_path, "run", "steel.cfg", *words, "--quiet", "--json", "--overwrite")
    assert json.loads(done)["warnings"] == warned


@pytest.mark.parametrize("flux, initial, unit, warned", [
    ("4e5", "300.0", "K", True), ("-4e5", "300.0", "K", False), ("4e5", "0.0", "K", False),  # 0 K: a rise, or a first guess
    ("4e5", "20.0", "degC", True), ("4e4", "20.0", "degC", False), ("4e5", "300.0", "eV", False)])
def test_a_result_below_absolute_zero_is_a_warning(tmp_path, flux, initial, unit, warned):
    """A flux that was meant to heat has the wrong sign."""
    (tmp_path / "steel.cfg").write_text(STEEL)
    words = ["--set", f"initial={{value={initial};}}", "--set", f"temperature_unit={unit}", "--set", "grid={points=[11]; upper=[0.05];}",
             "--set", f"boundary={{x_min={{type=\"neumann\"; flux={flux};}}; x_max={{type=\"reflective\";}};}}"]
    done = heatsolve(tmp_path, "run", "steel.cfg", *words, "--json")
    found = [w for w in json.loads(done.stdout)["warnings"] if "below absolute zero" in w]
    assert done.returncode == 0 and len(found) == warned and done.stderr.count("below absolute zero") == warned
    assert not warned or "a flux is the heat that leaves" in found[0] and f" {unit}, below" in found[0]


@pytest.mark.parametrize("span, time, said", [
    (1e-3, 'time={end=2e4; method="implicit"; tolerance=0.1;}', "time.tolerance = 0.1: it lets each step be off by 0.1 mol/m^3"),
    (1e-3, 'time={end=2e4; method="rkl2"; tolerance=1e-3;}', "time.tolerance = 0.001: it lets each step be off by 0.001 mol/m^3"),
    (1e-3, 'time={end=2e4; method="implicit"; tolerance=5e-5;}', None),
    (1e-9, 'steady={tolerance=1e-8;}', "steady.tolerance = 1e-08: it lets the steady state be off by "),
    (1e-3, 'steady={tolerance=1e-9;}', None),
    (1e-9, 'steady={tolerance=1e-8; method="multigrid";}', None),  # relative
    (0.0, 'time={end=2e4; method="implicit"; tolerance=0.1;}', None),  # level
])  # fmt: skip
def test_a_tolerance_as_large_as_what_is_sought_is_a_warning(tmp_path, span, time, said):
    """A tolerance of kelvins beside a concentration: the steady state of 1e-9 was found after 100 sweeps, at a sixth of its mean."""
    (tmp_path / "lag.cfg").write_text(f"""temperature_unit = "mol/m^3"; grid = {{ points = [101]; upper = [1e-4]; }};
material = {{ diffusivity = 1e-12; }}; initial = {{ value = 0.0; }};
boundary = {{ x_min = {{ type = "dirichlet"; value = {span}; }}; x_max = {{ type = "dirichlet"; value = 0.0; }}; }};\n""")
    run = json.loads(must(tmp_path, "run", "lag.cfg", "--set", time, "--json"))
    assert len(run["warnings"]) == (said is not None), run["warnings"]
    assert not said or f"--set: {said}" in run["warnings"][0] and f"all temperatures of the run lie within {span:g}" in run["warnings"][0]
    assert said or span == 0.0 or run["mean"] == pytest.approx(span / 2, rel=0.05)


@pytest.mark.parametrize("missing, said", [("-999", "of -999, below absolute zero"), ("1e20", "of 1e+20, which nothing has"), ("250", None)])
@pytest.mark.parametrize("unit, shift, capacity", [("degC", 0.0, True), ("K", 293.15, True), ("K", 0.0, True), ("degC", 0.0, False)])
@pytest.mark.parametrize("what", ["table", "map", "initial"])
def test_a_number_for_a_missing_temperature_is_a_warning(tmp_path, missing, said, unit, shift, capacity, what):
    """One of many in a file of weather or of a measured field. Degrees in K about 0 are differences."""
    other = 900.0 + shift if what == "table" else 5.0 + shift
    (tmp_path / "air.csv").write_text(f"0,{5 + shift}\n200,{other}\n300,{missing}\n900,{other}\n")
    np.save(tmp_path / "map.npy", np.where(np.arange(21) == 7, float(missing), 5 + shift))
    np.save(tmp_path / "field.npy", np.where(np.arange(51 * 21).reshape(21, 51) == 500, float(missing), 5 + shift))
    file = {"table": ("ambient_table", "air.csv"), "map": ("value_file", "map.npy"), "initial": ("initial.file", "field.npy")}[what]
    settings = [f"temperature_unit={unit}", f"initial.expression={5 + shift}", f"boundary.x_max.ambient={5 + shift}", f"boundary.x_min.value={5 + shift}"]
    settings += [{"table": 'boundary.x_max={type="robin"; h=5.0; ambient_table="air.csv";}', "map": 'boundary.x_min={type="dirichlet"; value_file="map.npy";}', "initial": 'initial={file="field.npy";}'}[what]]
    if not capacity:
        if what == "table":
            return  # convection needs a conductivity
        settings = ["material={diffusivity=1e-5;}", 'boundary.x_max={type="reflective";}', *[s for s in settings if "ambient=" not in s]]
    found = [w for w in check(tmp_path, *settings) if "missing" in w]
    wanted = said is not None and capacity and (unit == "degC" or shift > 0.0 or (what, missing) == ("initial", "1e20"))
    assert len(found) == wanted, found
    assert not wanted or (found[0].endswith(f' = "{file[1]}": has a temperature {said}; does it stand for a missing value?') and file[0] in found[0]), found


@pytest.mark.parametrize("missing, warned", [("-9999", True), ("1e20", True), ("-9998", False)])
def test_a_number_for_a_missing_load_is_a_warning(tmp_path, missing, warned):
    """A line of three warmed 50 times as much as all of them were to."""
    (tmp_path / "load.csv").write_text(f"0,100\n300,{missing}\n900,100\n")
    found = [w for w in check(tmp_path, 'boundary.x_max={type="neumann"; flux_table="load.csv";}') if "missing" in w]
    assert found == [f'--set: boundary.x_max.flux_table = "load.csv": has {float(missing):.9g} at t = 300 s; does it stand for a missing value?'] * warned


@pytest.mark.parametrize("unit", ["degF", "°F", "F", "fahrenheit", "Degrees Fahrenheit", "degR", "Rankine"])
def test_fahrenheit_beside_units_of_kelvin_is_a_warning(tmp_path, unit):
    warnings = check(tmp_path, f"temperature_unit={unit}")
    assert len(warnings) == 1 and f'temperature_unit = "{unit}": nothing is converted' in warnings[0]


@pytest.mark.parametrize("settings, unit_of_others", [
    (["initial.value=10", "boundary.x_min.value=500"], "Pa"),  # numbers as of degrees Celsius beside kelvin
    (["material={conductivity=1e-3; density=1e-4; specific_heat=1;}", "boundary.x_max.h=1e-6"], "m"),  # an aquifer's transmissivity and storage
    (["material={conductivity=5.8e7; density=1e6; specific_heat=1;}"], "V"),
    (['measured={conductivity={file="k.npy";}; capacity={file="k.npy";};}', 'boundary={all={type="reflective";};}'], "m"),
    (['materials=({name="a"; conductivity=1e-10; density=2.0; specific_heat=1.0;},{name="b"; conductivity=1e-12; density=0.4; specific_heat=1.0;})',
      'body=({material="a";},{material="b"; shape="box"; lower=[0.2,0.0]; upper=[0.5,0.2];})', 'contacts=({between=["a","b"]; resistance=1e8;})', "boundary.x_max.h=1e-8"], "mol/m^3"),
])  # fmt: skip
def test_numbers_of_other_fields_than_temperatures_are_no_warning(tmp_path, settings, unit_of_others):
    np.save(tmp_path / "k.npy", np.full((21, 51), 1e-3))
    case = STEEL.replace("material =", "# material =") if settings[0].startswith("m") and "material=" not in settings[0] else STEEL
    (tmp_path / "case.cfg").write_text(case.replace("600.0", "1e9"))
    words = [word for setting in [*settings, f"temperature_unit={unit_of_others}"] for word in ("--set", setting)]
    of = lambda *more: [w for w in json.loads(must(tmp_path, "check", "case.cfg", *words, *more, "--json"))["warnings"] if "time.end" not in w]  # noqa: E731
    assert of() == [] and len(of("--set", "temperature_unit=K")) >= 1


@pytest.mark.parametrize("settings", [["temperature_unit=degC"], ["temperature_unit=ft"], ["temperature_unit=degF", "material={diffusivity=1e-5;}", "boundary={}"]])
def test_other_units_are_no_warning(tmp_path, settings):
    """With a diffusivity nothing is per kelvin."""
    assert check(tmp_path, *settings) == []


@pytest.mark.parametrize(
    ("times", "numbers", "warned"),
    [
        ((0, 6, 12, 18, 24), (5, 2, 8, 9, 5), True),  # hours for seconds
        ((0, 150, 300, 450, 600), (5, 2, 8, 9, 5), False),  # as long as the run
        ((0, 6, 12, 18, 24), (0, 5, 5, 0, 0), False),  # pulses that are over
        ((0, 6, 12), (0, 1, 4), False),  # a ramp
        ((0, 6, 12), (0, 4, 1), False),
        (range(0, 25, 3), (5, 6, 8, 9, 10, 9, 8, 6, 5), True),  # from winter to winter, and no more
        (range(0, 25, 3), (0, 2, 4, 6, 7, 6, 4, 2, 0), False),  # a pulse that is over
    ],
)
@pytest.mark.parametrize("face", ["x_min", "all"])
def test_a_table_that_ends_before_the_run_is_a_warning(tmp_path, times, numbers, warned, face):
    (tmp_path / "air.csv").write_text("".join(f"{a},{b}\n" for a, b in zip(times, numbers)))
    (tmp_path / "steel.cfg").write_text(
        STEEL.split("boundary")[0].replace("293.15 +", "5 +")
        + f'boundary = {{ all = {{ type = "reflective"; }}; {face} = {{ type = "robin"; h = 25.0; ambient_table = "air.csv"; }}; }};\ntime = {{ end = 600.0; }};\n'.replace(
            'all = { type = "reflective"; }; all', "all"
        )
    )
    found = json.loads(must(tmp_path, "check", "steel.cfg", "--json"))["warnings"]
    text = f'steel.cfg:4: boundary.{face}.ambient_table = "air.csv": ends at t = 24 s, and the run at 600 s; after its end its last number, 5,'
    assert len(found) == warned and all(line.startswith(text) for line in found)


@pytest.mark.parametrize("times, numbers, end, unit", [
    ((0, 20, 20.01, 50), (-50, -50, -80, -80), 180000, "h"),  # steps of a load
    ((0, 2, 4, 10), (0, -50, -80, -90), 600, "min"),
    ((0, 100, 200), (5, 4, 3), 200 * 86400, "days"),
    ((0, 1), (0, -50), 3600, None),  # switched on within 1 s
    ((0, 1, 10, 10.01), (0, -50, -50, 0), 600, None),  # a pulse of 10 s
    ((0, 20, 50), (-50, -50, -50), 180000, None),
    ((0, 20, 50), (-50, -60, -70), 100000, None),
    (range(0, 600001, 50000), range(0, -13, -1), 600, "ms"),
    (range(0, 600000001, 50000000), range(0, -13, -1), 600, "us"),
    ((0, 10, 600000), (0, -50, -50), 600, None),  # for ever
    (range(0, 500001, 50000), range(0, -11, -1), 600, None),
])
def test_a_table_that_would_end_with_the_run_in_another_unit_is_a_warning(tmp_path, times, numbers, end, unit):
    (tmp_path / "load.csv").write_text("".join(f"{a},{b}\n" for a, b in zip(times, numbers)))
    found = [w for w in check(tmp_path, 'boundary.x_min={type="neumann"; flux_table="load.csv";}', f"time.end={end}") if "ends at" in w]
    assert len(found) == (unit is not None), found
    assert not unit or f"Are its times in {unit}? They are read in s" in found[0]
    assert not unit or (f"number, {numbers[-1]}, is used." in found[0]) == (times[-1] < end)


@pytest.mark.parametrize("first, numbers, warned", [(1704067200, (5, 6), True), (600, (5, 6), True), (1704067200, (5, 5), False), (599, (5, 6), False)])
def test_a_table_that_begins_after_the_run_is_a_warning(tmp_path, first, numbers, warned):
    """Times of a calendar, say: the run would see the first number only."""
    (tmp_path / "air.csv").write_text(f"{first},{numbers[0]}\n{first + 3600},{numbers[1]}\n")
    face = '{ type = "robin"; h = 25.0; ambient_table = "air.csv"; }'
    (tmp_path / "steel.cfg").write_text(STEEL.split("boundary")[0].replace("293.15 +", "5 +") + f"boundary = {{ all = {face}; }};\ntime = {{ end = 600.0; }};\n")
    text = f'steel.cfg:4: boundary.all.ambient_table = "air.csv": begins at t = {first} s, but the run ends at 600 s: only its first number, 5, is used. Give times from the beginning of the run'
    assert json.loads(must(tmp_path, "check", "steel.cfg", "--json"))["warnings"] == [text] * warned


@pytest.mark.parametrize("case, warned", [("sub/steel.cfg", True), ("steel.cfg", False)])
def test_two_files_of_one_name_are_a_warning(tmp_path, case, warned):
    """The one in the current folder was read without a word, though the config has its own beside it."""
    (tmp_path / "sub").mkdir()
    for folder, number in (tmp_path, -1000), (tmp_path / "sub", -5000):
        (folder / "load.csv").write_text(f"0,{number}\n600,{number}\n")
    (tmp_path / case).write_text(STEEL.split("boundary")[0] + 'boundary = { all = { type = "neumann"; flux_table = "load.csv"; }; };\ntime = { end = 600.0; };\n')
    text = f'{case}:4: boundary.all.flux_table = "load.csv": there is sub/load.csv, too; the one in the current folder is read. Remove one of them, or give the path of the one that is meant'
    assert json.loads(must(tmp_path, "check", case, "--json"))["warnings"] == [text] * warned
    (tmp_path / "load.csv").unlink()  # then there is one at most
    assert not warned or json.loads(must(tmp_path, "check", case, "--json"))["warnings"] == []
    (tmp_path / "load.csv").symlink_to("sub/load.csv")
    assert json.loads(must(tmp_path, "check", case, "--json"))["warnings"] == []


@pytest.mark.parametrize("upper, warned", [("0.1", True), ("0.09", False)])
def test_a_patch_that_a_later_one_covers_is_a_warning(tmp_path, upper, warned):
    patch = '{ lower = [0.0]; upper = [%s]; type = "robin"; h = 5.0; ambient = 293.15; }'
    small, large = patch.replace("[0.0]", "[0.05]") % "0.1", patch % upper
    (tmp_path / "steel.cfg").write_text(STEEL.replace("ambient = 293.15; };", f"ambient = 293.15;\n patches = ( {small},\n{large} ); }};"))
    text = "steel.cfg:7: boundary.x_max.patches[0]: lies in patches[1], a later one that covers it; change their order, or remove it"
    assert json.loads(must(tmp_path, "check", "steel.cfg", "--json"))["warnings"] == [text] * warned


BODY = """\
grid = { points = [21]; upper = [0.2]; };
materials = ( { name = "a"; conductivity = 1.0; density = 2000.0; specific_heat = 900.0; },
              { name = "b"; conductivity = 0.04; density = 30.0; specific_heat = 1000.0; } );
body = ( { material = "a"; }, { material = "b"; shape = "box"; lower = [0.1]; upper = [0.2]; } );
initial = { value = 300.0; };
boundary = { x_min = { type = "dirichlet"; value = %s; }; x_max = { type = "robin"; h = 25.0; ambient = %s; }; };
time = { end = 600.0; };
"""


@pytest.mark.parametrize("value, ambient, place", [("20.0", "300.0", "x_min"), ("250.0", "20.0", "x_max"), ('"20+t"', "300.0", "x_min")])
def test_a_bodys_walls_in_other_units_are_noticed(tmp_path, value, ambient, place):
    (tmp_path / "body.cfg").write_text(BODY % (value, ambient))
    warned = json.loads(must(tmp_path, "check", "body.cfg", "--json"))["warnings"]
    assert len(warned) == 1 and f"boundary.{place}" in warned[0], warned
    assert "this wall has 20, the initial field 300 to 300; are degrees Celsius and kelvin mixed?" in warned[0]


@pytest.mark.parametrize(
    "initial, wall, unit, warned",
    [("20.0", "1000.0", "degC", False), ("850.0", "25.0", "degC", False), ("20.0", "1000.0", "K", True), ("20.0", "293.15", "degC", True), ("293.15", "20.0", "degC", True)],
)  # fmt: skip
def test_a_fire_and_a_quench_in_degrees_celsius_are_not_taken_for_a_mixture(tmp_path, initial, wall, unit, warned):
    text = (BODY % (wall, initial)).replace("value = 300.0", f"value = {initial}")
    (tmp_path / "body.cfg").write_text(text + f'temperature_unit = "{unit}";\n')
    said = json.loads(must(tmp_path, "check", "body.cfg", "--json"))["warnings"]
    assert any("are degrees Celsius and kelvin mixed?" in line for line in said) == warned, said


def test_the_greys_of_an_image_are_no_degrees(tmp_path):
    (tmp_path / "blur.cfg").write_text(
        """grid = { points = [9, 9]; }; stencil = { c0 = 0.6; c1 = 0.1; c2 = 0.1; c3 = 0.1; c4 = 0.1; }; initial = { value = 250.0; };
boundary = { all = { type = "dirichlet"; value = 0.0; }; }; time = { sweeps = 9; };\n"""
    )
    assert json.loads(must(tmp_path, "check", "blur.cfg", "--json"))["warnings"] == []


@pytest.mark.parametrize(
    "old, new, said",
    [
        ("density = 2000.0", "density = 2.0", "body.cfg:2: materials[0].density = 2.0: with a conductivity of 1 W/(m K) that is too light for any solid; was it in g/cm^3?"),
        ("specific_heat = 900.0;", 'specific_heat = 900.0; perfusion = { rate = 9.0; reference = "20 + t"; };', "body.cfg:2: materials[0].perfusion.reference = \"20 + t\": this perfusion has 20, the initial field 300 to 300; are degrees Celsius and kelvin mixed?"),
    ],
)
def test_a_bodys_materials_in_other_units_are_noticed(tmp_path, old, new, said):
    (tmp_path / "body.cfg").write_text((BODY % ("300.0", "300.0")).replace(old, new))
    assert json.loads(must(tmp_path, "check", "body.cfg", "--json"))["warnings"] == [said]


@pytest.mark.parametrize("ambient, warned", [("20.0", True), ("293.15", False)])
@pytest.mark.parametrize("wall", ['type = "robin"; h = 25.0; ambient = 293.15', 'type = "reflective"'])
def test_a_patch_in_other_units_is_noticed(tmp_path, wall, ambient, warned):
    patches = "".join(f'{{ lower = [{a}]; upper = [{a + 0.05}]; type = "robin"; h = 5.0; ambient = {b}; }}, ' for a, b in ((0.0, 293.15), (0.1, ambient)))
    (tmp_path / "steel.cfg").write_text(STEEL.replace('type = "robin"; h = 25.0; ambient = 293.15', f"{wall}; patches = ( {patches[:-2]} )"))
    found = json.loads(must(tmp_path, "check", "steel.cfg", "--json"))["warnings"]
    assert len(found) == warned
    for line in found:
        assert "steel.cfg:6: boundary.x_max" in line
        assert ": a patch of this wall has 20, the initial field 293.16 to 293.65; are degrees Celsius and kelvin mixed?" in line


@pytest.mark.parametrize("at", ['ambient = "20 + y"', 'ambient_file = "air.npy"'])
@pytest.mark.parametrize("shift, warned", [(0.0, True), (273.15, False)])
def test_a_bodys_wall_that_varies_in_other_units_is_noticed(tmp_path, at, shift, warned):
    np.save(tmp_path / "air.npy", np.full(21, 20.0 + shift))
    case = STEEL.replace("material = {", 'materials = ( { name = "steel";', 1).replace("434.0; };", '434.0; } );\nbody = ( { material = "steel"; } );')
    (tmp_path / "steel.cfg").write_text(case.replace("ambient = 293.15", at.replace("20 +", f"{20 + shift} +")))
    found = json.loads(must(tmp_path, "check", "steel.cfg", "--json"))["warnings"]
    assert len(found) == warned and all("boundary.x_max" in line and ": this wall has 20" in line for line in found), found


@pytest.mark.parametrize("capacity, run, warned", [(2.0, "time", True), (9999.0, "time", True), (1e4, "time", False), (2.0, "steady", False)])
def test_a_measured_capacity_that_only_gases_have_is_noticed(tmp_path, capacity, run, warned):
    """In MJ, or of a density alone. A steady state does not depend on it."""
    np.save(tmp_path / "k.npy", np.ones(21))
    np.save(tmp_path / "c.npy", np.r_[1.0, np.full(20, capacity)])
    time = {"time": "time = { end = 1e6; method = \"implicit\"; tolerance = 1.0; };", "steady": 'steady = { tolerance = 1e-9; method = "multigrid"; };'}[run]
    lines = BODY.splitlines()
    text = [lines[0], 'measured = { conductivity = { file = "k.npy"; }; capacity = { file = "c.npy"; }; };', lines[4], lines[5] % ("300.0", "300.0"), time]
    (tmp_path / "body.cfg").write_text("\n".join(text))
    said = f'body.cfg:2: measured.capacity.file = "c.npy": is at most {capacity:g}, as only gases have; it is density times specific heat, in J/(m^3 K)'
    assert json.loads(must(tmp_path, "check", "body.cfg", "--json"))["warnings"] == [said] * warned


@pytest.mark.parametrize("resistance, warned", [("3.8", False), ("3.9", True), ("20.0", True), ("2e-5", False)])
def test_a_contact_that_resists_more_than_air_is_noticed(tmp_path, resistance, warned):
    """Both materials fill 0.1 m; that much still air resists 3.85 m^2 K/W."""
    text = (BODY % ("300.0", "300.0")) + f'contacts = ( {{ between = ["b", "a"]; resistance = {resistance}; }} );\n'
    (tmp_path / "body.cfg").write_text(text)
    found = json.loads(must(tmp_path, "check", "body.cfg", "--json"))["warnings"]
    gap = f"{0.026 * float(resistance):.2g}"
    text = f"body.cfg:8: contacts[0].resistance = {resistance}: resists as much as {gap} m of still air, but the materials beside it are at most 0.1 m in size; was it in mm^2 K/W?"
    assert found == [text] * warned


CHIP = """\
grid = { x = { from = 0.0; segments = ( { to = %s; cells = 8; }, { to = 0.005; cells = 3; } ); }; };
materials = ( { name = "sink"; conductivity = 200.0; density = 2700.0; specific_heat = 900.0; },
              { name = "chip"; conductivity = 120.0; density = 2330.0; specific_heat = 712.0; %s } );
body = ( { material = "sink"; }, { material = "chip"; shape = "box"; lower = [%s]; upper = [0.005]; } );
contacts = ( { between = ["sink", "chip"]; resistance = 5e-5; } );
initial = { value = 300.0; };
boundary = { x_min = { type = "dirichlet"; value = 300.0; }; x_max = { type = "reflective"; }; };
time = { end = 1.0; };
"""
MADE = "source = 1e9;"
TAKEN = "perfusion = { rate = 1e5; reference = 300.0; };"


def of_chip(tmp_path, node, does, lower, resistance="5e-5"):
    (tmp_path / "chip.cfg").write_text((CHIP % (node, does, lower)).replace("5e-5", resistance))
    return json.loads(must(tmp_path, "check", "chip.cfg", "--json"))["warnings"]


@pytest.mark.parametrize("node, does, said", [("0.004", MADE, "the heat of its source"), ("0.004", TAKEN, "its perfusion takes"), ("0.004", "", "the heat that it stores"), ("0.0038", MADE, None), ("0.0037", MADE, None), ("0.0039", MADE, "the heat of its source")])
def test_heat_that_bypasses_a_contact_is_noticed(tmp_path, node, does, said):
    """The node at the contact has the sink's side, and half a cell of the chip, a sixth of it. Where
    the contact is halfway (0.0038), or nearer to the node of the sink (0.0037), the sink's nodes have nothing of the chip."""
    found = of_chip(tmp_path, node, does, "0.004")
    assert len(found) == (said is not None)
    if said:
        assert "chip.cfg:5: contacts[0].resistance = 5e-5: is not halfway between nodes: " in found[0] and said in found[0]
    assert of_chip(tmp_path, node, does, "0.004", "5e-8") == []  # as 6 um of the chip
    if node == "0.004" and said:
        assert "17 % of chip belongs to nodes on the other side" in found[0]


@pytest.mark.parametrize("gap, warned", [(0.0, False), (4e-19, False), (1e-9, True)])
def test_a_contact_of_what_does_not_touch_is_noticed(tmp_path, gap, warned):
    """Other material fills the gap, and the contact would count for nothing. Rounding leaves none."""
    text = CHIP % ("0.0037", "", repr(0.004 + gap))
    text = text.replace('{ material = "sink"; }', '{ material = "glue"; }, { material = "sink"; shape = "box"; lower = [0.0]; upper = [0.004]; }')
    text = text.replace("materials = (", 'materials = ( { name = "glue"; conductivity = 1.0; density = 1200.0; specific_heat = 1400.0; },')
    (tmp_path / "chip.cfg").write_text(text)
    found = [w for w in json.loads(must(tmp_path, "check", "chip.cfg", "--json"))["warnings"] if "glue" not in w]
    assert found == ["chip.cfg:5: contacts[0].resistance = 5e-5: sink and chip touch nowhere, so it has no effect; look at their coordinates, or name the two that touch"] * warned


@pytest.mark.parametrize("node, at, said", [
    ("0.0038", 0.004, "lies on the contact of sink and chip, where the temperature jumps, and reads the side of chip;"),
    ("0.004", 0.004, "lies on the contact of chip and sink, where the temperature jumps, and reads the side of sink;"),
    ("0.0039", 0.00401, "lies in chip, but the nearest node is on the side of sink, beyond a contact; move it to a node of chip"),
    ("0.0037", 0.00395, "lies in sink, but the nearest node is on the side of chip, beyond a contact; move it to a node of sink"),
    ("0.0038", 0.0038, None), ("0.0038", 0.0041, None), ("0.0038", 0.005, None), ("0.0038", 0.0, None)])
@pytest.mark.parametrize("resistance", ["5e-5", "0.0"])
def test_a_probe_that_reads_beyond_a_contact_is_noticed(tmp_path, node, at, said, resistance):
    """By the jump, 50 K for 1e6 W/m^2 through 5e-5 m^2 K/W."""
    text = CHIP % (node, "", "0.004") + f'probes = ( {{ name = "base"; at = [{at}]; }} );\n'
    (tmp_path / "chip.cfg").write_text(text.replace("5e-5", resistance))
    warnings = json.loads(must(tmp_path, "check", "chip.cfg", "--json"))["warnings"]
    found = [w for w in warnings if "probes" in w]
    assert len(found) == (said is not None and resistance != "0.0"), warnings
    assert not found or found[0].startswith(f"chip.cfg: probes[0]: base {said}")


PASTE = """\
grid = { x = { segments = ( { to = %s; cells = 5; }, { to = 0.008; cells = 3; } ); }; };
materials = ( { name = "copper"; conductivity = 390.0; density = 8930.0; specific_heat = 385.0; },
              { name = "paste"; conductivity = %s; density = 2500.0; specific_heat = 1000.0; } );
body = ( { material = "copper"; }, { material = "paste"; shape = "box"; lower = [0.005]; upper = [0.00505]; } );
initial = { value = 20.0; };
boundary = { all = { type = "robin"; h = 8000.0; ambient = 20.0; }; };
time = { end = 1.0; };
probes = ( { name = "case"; at = [%s]; } );
"""


@pytest.mark.parametrize("node, paste, at, share", [
    ("0.005", 1.0, 0.00505, 71),  # copper 7.95 mm / 390, paste 0.05 mm / 1
    ("0.005", 1.0, 0.00506, 71),
    ("0.005", 1.0, 0.00503, 43),  # in the paste
    ("0.0049", 1.0, 0.00506, 71),
    ("0.00505", 1.0, 0.005, 71),
    ("0.00505", 1.0, 0.0052, None),  # of the same side
    ("0.005", 1.0, 0.0045, None),
    ("0.005", 100.0, 0.00505, None),  # resists 2.4 %
    ("0.005", 390.0, 0.0055, None),  # copper alone, half a cell, 6 % of its length
])
def test_a_probe_that_reads_beyond_a_layer_is_noticed(tmp_path, node, paste, at, share):
    """The case above a layer of paste was read below it, 9 K of 45 lower, and only check had the place."""
    (tmp_path / "case.cfg").write_text(PASTE % (node, paste, at))
    warnings = json.loads(must(tmp_path, "check", "case.cfg", "--json"))["warnings"]
    assert warnings == [
        f"case.cfg: probes[0]: case is read at the node at x = {float(node)} m, and {share} % of the body's thermal resistance along x lies in between, most of it in paste; "
        f"put a node at x = {at} m, or move the probe to a node"
    ] * (share is not None)


VIA = """\
grid = { points = [20, 20]; upper = [1.0, 1.0]; };
materials = ( { name = "board"; conductivity = 0.3; density = 1900.0; specific_heat = 1100.0; },
              { name = "copper"; conductivity = 390.0; density = 8930.0; specific_heat = 385.0; } );
body = ( { material = "board"; }, %s );
initial = { value = 300.0; %s };
boundary = { all = { type = "reflective"; }; x_min = { type = "periodic"; }; x_max = { type = "periodic"; }; };
time = { end = 1e4; };
"""


def via(x, y=0.5):
    return f'{{ material = "copper"; shape = "cylinder"; centre = [{x}, {y}]; radius = 0.2; }}'


def bar(lower, upper):
    return f'{{ material = "copper"; shape = "box"; lower = [{lower}, 0.2]; upper = [{upper}, 0.4]; }}'


@pytest.mark.parametrize("shapes, said", [
    ([via(0.0)], "body[1] reaches beyond x = 0, an end of a periodic axis, and does not continue at the other end; draw that part as well: the same shape, moved by 1 m along x"),
    ([via(0.5), via(0.9)], "body[2] reaches beyond x = 1, "),
    ([via(0.0), via(1.0, 0.6)], "body[1] reaches beyond x = 0, "),
    ([bar(-0.1, 0.1)], "body[1] reaches beyond x = 0, "),
    ([via(0.0), via(1.0)], None),  # its image is drawn
    ([via(0.2), via(0.8)], None),  # they only touch the ends
    ([via(0.5, 0.0)], None),  # this axis is not periodic
    ([bar(-0.1, 0.1), bar(0.9, 1.0)], None),
    ([bar(-1.0, 2.0)], None),
])
def test_a_shape_across_the_end_of_a_periodic_axis_is_noticed(tmp_path, shapes, said):
    (tmp_path / "via.cfg").write_text(VIA % (", ".join(shapes), ""))
    found = [w for w in json.loads(must(tmp_path, "check", "via.cfg", "--json"))["warnings"] if "nowhere" not in w]
    assert len(found) == (said is not None) and (not said or f"via.cfg:4: body: {said}" in found[0]), found


def test_a_region_across_the_end_of_a_periodic_axis_is_noticed(tmp_path):
    region = 'regions = ( { shape = "box"; lower = [0.9, 0.0]; upper = [1.1, 1.0]; value = 400.0; } );'
    (tmp_path / "via.cfg").write_text(VIA % (via(0.5), region))
    found = json.loads(must(tmp_path, "check", "via.cfg", "--json"))["warnings"]
    assert len(found) == 1 and "via.cfg:5: initial.value = 300.0: initial.regions[0] reaches beyond x = 1, " in found[0]


@pytest.mark.parametrize("walls, steady, warned", [
    ("", "multigrid", True), ("", "spectral", True), ("", "sweeps", False),
    ('all = { type = "robin"; h = 1.0; ambient = 0.0; };', "multigrid", True),
    ('all = { type = "reflective"; };', "multigrid", False),  # its mean stays
    ('all = { type = "reflective"; }; x_max = { type = "reflective"; patches = ( { lower = [0.0]; upper = [0.1]; type = "fixed"; } ); };', "multigrid", True),
    ('x_min = { type = "fixed"; };', "multigrid", None),  # the region reaches it, and is held there
])  # fmt: skip
def test_a_region_that_a_steady_state_does_not_keep_is_a_warning(tmp_path, walls, steady, warned):
    """Meant as a conductor at 1 V inside a box at 0 V, it came out at 0 V everywhere."""
    lower = 0.0 if warned is None else 0.3
    (tmp_path / "coax.cfg").write_text(f"""grid = {{ points = [11, 11]; upper = [1.0, 1.0]; }};
material = {{ conductivity = 1.0; density = 1000.0; specific_heat = 1000.0; }};
initial = {{ value = 0.0; regions = ( {{ shape = "box"; lower = [{lower}, 0.3]; upper = [0.7, 0.7]; value = 1.0; }} ); }};
boundary = {{ {walls} }};
steady = {{ tolerance = 1e-9; method = "{steady}"; }};\n""")
    found = [w for w in json.loads(must(tmp_path, "check", "coax.cfg", "--json"))["warnings"] if "no type is given" not in w]
    said = "coax.cfg:3: initial.value = 0.0: initial.regions[0] is a first guess, and the steady state keeps nothing of it; to hold a place at a temperature, give it a material with a strong perfusion and that reference"
    assert found == [said] * bool(warned)


@pytest.mark.parametrize("one", [False, True])
def test_a_steady_bodys_heat_capacity_may_be_any(tmp_path, one):
    text = (BODY % ("300.0", "300.0")).replace("density = 2000.0; specific_heat = 900.0", "density = 2.0; specific_heat = 1.0")
    if one:
        text = "material = { conductivity = 1.0; density = 2.0; specific_heat = 1.0; };\n".join(re.split("materials = .*\n.*\n.*\n", text))
    (tmp_path / "body.cfg").write_text(text.replace("time = { end = 600.0; }", 'steady = { tolerance = 1e-9; method = "multigrid"; }'))
    assert json.loads(must(tmp_path, "check", "body.cfg", "--json"))["warnings"] == []


def test_a_body_in_millimetres_is_noticed(tmp_path):
    text = (BODY % ("300.0", "300.0")).replace("[0.2]", "[200.0]").replace("[0.1]", "[100.0]")
    (tmp_path / "body.cfg").write_text(text)
    warned = json.loads(must(tmp_path, "check", "body.cfg", "--json"))["warnings"]
    assert len(warned) == 1 and "body.cfg:7: time.end = 600: until then heat spreads over about 0.028 m, less than a spacing of 10 m" in warned[0]


def test_a_stretched_grid_has_the_warnings_of_its_material_once(tmp_path):
    text = STEEL.replace("points = [51, 21]; upper = [0.5, 0.2]", "x = [0.0, 0.1, 0.3]; points = [21]; upper = [0.2]")
    (tmp_path / "steel.cfg").write_text(text.replace("7854.0", "7.854"))
    warned = json.loads(must(tmp_path, "check", "steel.cfg", "--json"))["warnings"]
    assert len(warned) == 1 and "material.density = 7.854: with a conductivity of 60.5 W/(m K) that is too light" in warned[0]


CONFIGS = pathlib.Path(__file__).resolve().parents[2] / "configs"


@pytest.mark.parametrize("name", sorted(str(path.relative_to(CONFIGS)) for path in CONFIGS.rglob("*.cfg")))
def test_the_cases_of_the_project_have_no_slip(tmp_path, name):
    assert json.loads(must(tmp_path, "check", CONFIGS / name, "--json"))["warnings"] == []


@pytest.mark.parametrize("walls, held", [
    ('x_min = { type = "robin"; h = 25.0; ambient = 300.0; };', "x_max, y_min, y_max"),
    ('x_min = { type = "periodic"; }; x_max = { type = "periodic"; };', "y_min, y_max"),
    ('all = { type = "reflective"; }; x_min = { type = "dirichlet"; value = 300.0; };', None),
    ('all = { type = "fixed"; }; x_min = { type = "dirichlet"; value = 300.0; };', None),
    ("", None),  # nobody chose any: the textbook's sweeps
])
def test_faces_without_a_type_beside_others_are_a_warning(tmp_path, walls, held):
    """They hold their temperatures, where other programs insulate: a module on a cold plate came out at 0.3 K instead of 45."""
    (tmp_path / "steel.cfg").write_text(STEEL.split("boundary")[0] + f"boundary = {{ {walls} }};\ntime = {{ end = 600.0; }};\n")
    text = f'steel.cfg: boundary: {held}: no type is given, so the initial temperature is held and heat passes through; give all = {{ type = "reflective"; }} if the other faces are insulated, or "fixed"'
    assert json.loads(must(tmp_path, "check", "steel.cfg", "--json"))["warnings"] == [text] * (held is not None)


# (settings, the text of the only warning)
SLIPS = [
    (["material.specific_heat=0.434"], "--set: material.specific_heat = 0.434: less than any material has; was it in kJ/(kg K)?"),
    (["output.file=\"run 12:30.h5\""], 'output.file = "run 12:30.h5": ParaView'),
    (["material.specific_heat=434e3"], "material.specific_heat = 434e3: more than any material has"),
    (["material.conductivity=60500"], "material.conductivity = 60500: more than diamond conducts"),
    (["material.conductivity=0.0005"], "material.conductivity = 0.0005: less than any gas conducts"),
    (["material.density=7.854"], "material.density = 7.854: with a conductivity of 60.5 W/(m K) that is too light for any solid"),
    (["material.density=78540"], "material.density = 78540: more than any metal has"),
    (["material.density=0.01"], "material.density = 0.01: less than any gas has"),
    (["boundary.x_max.ambient=20"], "boundary.x_max.ambient = 20: this wall has 20, the initial field 293.16 to 293.65; are degrees"),
    (["initial.value=20", "boundary.x_min.value=30"], "boundary.x_max.ambient = 293.15: this wall has 293.15, the initial field 20 to 20"),
    (["boundary.x_min={type=\"constant\"; value=27;}"], "boundary.x_min.value = 27: this wall has 27, the initial field"),
    (["boundary.x_max.ambient=293+345*log(8*t/60+1)"], "log is the natural logarithm; write ln, or log10 for that to base 10"),  # ISO 834
    (["initial.value=300+1e-3*log(1+x)"], "log is the natural logarithm; write ln, or log10 for that to base 10"),
    (["boundary.x_max.h=1e6"], "(the Biot number of a cell) 165; above 1 the grid is too coarse"),
    (["grid.upper=[500, 200]"], "steel.cfg:7: time.end = 600: until then heat spreads over about 0.1 m, less than a spacing of 10 m"),
    (["time.end=1e-3"], "--set: time.end = 0.001: until then heat spreads over about 0.00013 m"),
    (["grid.upper=[5e-4, 2e-4]"], "time.end = 600: heat crosses the whole grid, 0.0005 m, in about 0.014 s; look at the units"),
]  # fmt: skip


@pytest.mark.parametrize("settings, message", SLIPS, ids=[" ".join(s) for s, m in SLIPS])
def test_a_slip_is_a_warning(tmp_path, settings, message):
    warnings = check(tmp_path, *settings)
    assert any(message in warning for warning in warnings), warnings


# (dims, setting, its key, the axes that the grid lacks)
LACKS = [
    (1, "initial.value=y+x", "initial.value", "y"),
    (1, "initial.expression=sin(y*z)", "initial.expression", "y and z"),
    (2, 'initial.regions=({shape="sphere"; centre=[0.1, 0.1]; radius=0.05; value="300+z";})', "initial.regions[0].value", "z"),
    (1, "source.value=z", "source.value", "z"),
    (1, "exact.expression=300+y*t", "exact.expression", "y"),
    (1, "boundary.x_min.value=sin(y)+300", "boundary.x_min.value", "y"),
    (2, 'boundary.all={type="dirichlet"; value="300+z*t";}', "boundary.all.value", "z"),
    (2, 'boundary.y_min={type="reflective"; patches=({type="neumann"; flux="x*z"; lower=[0.1]; upper=[0.2];});}', "boundary.y_min.patches[0].flux", "z"),
]  # fmt: skip


@pytest.mark.parametrize("dims, setting, key, axes", LACKS)
def test_a_coordinate_that_the_grid_lacks_is_a_warning(tmp_path, dims, setting, key, axes):
    """The coordinate is 0. One warning per key, although every face reads the key of `all`."""
    grid = [] if dims == 2 else ["grid.points=[51]", "grid.upper=[0.5]"]
    said = f": a {dims}D grid has no {axes}, taken as 0 here; look at the expression, or at the grid"
    warnings = [w for w in check(tmp_path, *grid, setting) if "D grid has no" in w]
    assert len(warnings) == 1 and warnings[0].startswith(f"--set: {key} = ") and warnings[0].endswith(said), warnings
    assert f"warning      {warnings[0]}\n" in told(tmp_path, [*grid, setting])


def test_many_coordinates_that_the_grid_lacks_are_ten_warnings(tmp_path):
    regions = ", ".join('{shape="sphere"; centre=[0.1, 0.1]; radius=0.05; value="300+z";}' for _ in range(30))
    assert len(check(tmp_path, f"initial.regions=({regions})")) == 10


def test_coordinates_of_the_grid_are_no_slip(tmp_path):
    cube = ["grid.points=[6, 5, 4]", "grid.upper=[0.5, 0.4, 0.3]", "boundary.z_min={type=\"neumann\"; flux=\"x+y*z\";}"]
    for settings in [*cube, "initial.value=300+x*y*z", "source.value=z"], ["initial.value=300+x*y*t", "source.value=y"]:
        assert not any("grid has no" in w for w in check(tmp_path, *settings))


@pytest.mark.parametrize("change, said", [
    ([], None),
    (["grid.upper=[0.5, 0.4]"], "node 1 along y is at 0.01 m in the file, but at 0.02 m"),
    (["grid.upper=[0.50002, 0.20002]"], None),  # less than a hundredth of a cell
    (["grid={ points=[21]; upper=[0.2]; x={ segments=({ to=0.5; cells=50; ratio=1.1; }); }; }"], "along x is at 0.01 m in the file, but at 0.0004"),
    (["grid.upper=[0.2, 0.2]", "initial.file=\"start.npy\""], None),  # has no coordinates
], ids=["same", "longer", "rounded", "stretched", "npy"])  # fmt: skip
def test_a_field_whose_nodes_lie_elsewhere_is_a_warning(tmp_path, change, said):
    """A run from an earlier one's file, on a grid that has been changed since but has as many nodes."""
    (tmp_path / "steel.cfg").write_text(STEEL)
    must(tmp_path, "run", "steel.cfg", "--quiet", "--output", "start.h5")
    with h5py.File(tmp_path / "start.h5") as f:
        np.save(tmp_path / "start.npy", f["temperature"][-1])
    warnings = check(tmp_path, 'initial={file="start.h5";}', *change)
    assert len(warnings) == (said is not None) and all(said in w and "initial.file" in w for w in warnings), warnings


@pytest.mark.parametrize("unit, fixed, mine, warned", [
    ("degC", False, "K", True), ("Celsius", True, "kelvin", True), ("degF", False, "degC", True), ("kelvin", True, "K", False),
    ("mg/L", False, "mol/m^3", True), ("degC", True, "V", True), ("m", True, "m", False), ("1", False, "m", False), ("", False, "K", False), ("1", True, "K", False), (5.0, True, "K", False), ("degC", False, "degC", False),
])  # fmt: skip
def test_a_field_in_another_unit_is_a_warning(tmp_path, unit, fixed, mine, warned):
    with h5py.File(tmp_path / "start.h5", "w") as f:
        f["T"] = np.full((21, 51), 300.0)
        f["T"].attrs["units"] = np.bytes_(unit) if fixed and isinstance(unit, str) else unit
    warnings = check(tmp_path, 'initial={file="start.h5"; dataset="T";}', f'temperature_unit="{mine}"')
    said = f"the file's numbers are in {unit}, those of the config in {mine} (temperature_unit), and nothing is converted"
    assert any("initial.file" in w and said in w for w in warnings) == warned, warnings


@pytest.mark.parametrize("settings", [
    [],
    ["initial.value=20", "boundary.x_min.value=-5", "boundary.x_max.ambient=95"],  # degrees Celsius throughout
    ["initial.value=1000", "boundary.x_min.value=300"],  # a furnace
    ["initial.value=150", "boundary.x_min.value=20"],
    ["material.diffusivity=1.0", "boundary.x_max={type=\"clamp\";}", "time.end=1.0"],  # numbers without units
    ["material={conductivity=0.026; density=1.2; specific_heat=1005;}"],  # air
    ["material={conductivity=0.17; density=0.09; specific_heat=14300;}"],  # hydrogen
    ["material={conductivity=0.035; density=20; specific_heat=1400;}"],  # foam
    ["material={conductivity=2200; density=3515; specific_heat=509;}"],  # diamond
    ["boundary.x_max.ambient=293+345*log10(8*t/60+1)", "initial.value=300+ln(1+x)+log2(1+x)"],
    ["boundary.x_min.value=293+10*sin(t)", "grid.upper=[5e-4, 2e-4]"],  # driven: never uniform
], ids=" ".join)  # fmt: skip
def test_what_is_usual_is_no_slip(tmp_path, settings):
    assert check(tmp_path, *settings) == []


# with steps of 2 s, in a body (only bodies have tables); True: a warning
TABLES = {
    "0 0\n100 0\n100.5 -1e6\n101 0\n": True,
    "0 0\n100 0\n101 -1e6\n119 -1e6\n120 0\n": False,  # begins between two steps, but lasts long enough to be seen
    "0 0\n100.5 1\n101 1.01\n101.5 0.99\n700 2\n": False,  # insignificant
    "0 0\n700 0\n700.5 -1e6\n701 0\n": False,  # after the end
}


@pytest.mark.parametrize("table", TABLES)
def test_what_no_step_sees_of_a_table_is_a_warning(tmp_path, table):
    (tmp_path / "load.csv").write_text(table)
    load = 'boundary.x_min={type="neumann"; flux_table="load.csv";}'
    warnings = check(tmp_path, load, "time.step=2.0", "time.method=\"implicit\"")
    seen = ["steel.cfg:6: " not in w and "the pulse at t = 100.5 s lies between two steps, which are 2 s long, so the run misses it" in w for w in warnings]
    assert seen == [True] * TABLES[table], warnings
    assert all(w.startswith('--set: boundary.x_min.flux_table = "load.csv": ') for w in warnings)
    assert check(tmp_path, load, "time.tolerance=0.1", "time.method=\"implicit\"") == []


def test_what_no_step_sees_of_a_convecting_walls_flux_is_named(tmp_path):
    """It was said of the ambient temperature, a number."""
    wall = 'boundary.x_min={type="robin"; h=5.0; ambient=300.0; flux="t > 100 && t < 101 ? -1e6 : 0"; }'
    found = check(tmp_path, wall, "time.step=2.0", 'time.method="implicit"')
    assert len(found) == 1 and found[0].startswith("--set: boundary.x_min.flux = ") and "the run misses it" in found[0], found


# rows every 50 s, in steps of 0.5 s; True: a warning
SHOWN = [
    ("t > 110 && t < 140 ? -1e6 : 0", True),
    ("t > 110 && t < 160 ? -1e6 : 0", False),  # the row at 150 s has it
    ("fmod(t + 20, 50) < 5 ? -1e6 : 0", True),  # a mission of pulses
    ("fmod(t, 50) < 5 ? -1e6 : 0", True),  # rows where each begins
    ("-1e4*(1 + sin(t/40))", False),
    ("t > 110 && t < 140 ? -1e4 : -1e6*(t > 300)", False),  # a hundredth of what comes later
    ("(t > 110 && t < 140 ? -1e6 : 0)*(1 + y)", False),  # not looked at: a spot that passes is always somewhere
]


@pytest.mark.parametrize("method", ["step=0.5", "tolerance=0.1"])
@pytest.mark.parametrize("flux, warned", SHOWN)
def test_what_no_row_shows_is_a_warning(tmp_path, flux, warned, method):
    """A junction's peak between two rows was in no result, and history/max had another."""
    settings = [f'boundary.x_min={{type="neumann"; flux="{flux}";}}', "time.end=600.0", f"time.{method}", 'time.method="implicit"']
    rows = [w for w in check(tmp_path, *settings, "output.interval=50.0") if "between two rows" in w]
    remedy = "output.history_every" if "step" in method else "a shorter output.interval"
    said = " s lies between two rows of the history, which are 50 s apart: no row and no snapshot shows the temperatures that it causes; give " + remedy
    assert len(rows) == warned and all(w.startswith("--set: boundary.x_min.flux = ") and w.endswith(said) for w in rows), rows
    for more in (["output.interval=5.0"], ["output.interval=600.0"]):  # often enough; the end alone
        assert not any("between two rows" in w for w in check(tmp_path, *settings, *more))


def test_what_no_row_shows_of_a_table_is_a_warning(tmp_path):
    (tmp_path / "load.csv").write_text("0 0\n110 0\n110.1 -1e6\n120 -1e6\n120.1 0\n")
    settings = ['boundary.x_min={type="neumann"; flux_table="load.csv";}', "time.end=600.0", "output.interval=50.0", 'time.method="implicit"', "time.tolerance=0.1"]
    found = check(tmp_path, *settings)
    assert len(found) == 1 and "the pulse at t = 110.1 s lies between two rows of the history, which are 50 s apart" in found[0], found


@pytest.mark.parametrize("period, table, warned", [(1e-2, False, True), (0.1, False, True), (0.2, False, False), (50.0, False, False), (0.05, True, False)])
def test_what_is_too_short_for_the_tolerance_is_a_warning(tmp_path, period, table, warned):
    """By a chopper of 100 kHz, outputs every 0.1 s, implicit steps warmed a module by 12.3 K instead of 20.9. A table's points are all looked at."""
    (tmp_path / "load.csv").write_text(f"0 0\n100 0\n{100 + 0.3 * period} -1e6\n{100 + 0.6 * period} 0\n")
    flux = 'flux_table="load.csv"' if table else f'flux="fmod(t, {period}) < 0.3*{period} ? -1e6 : 0"'
    settings = [f'boundary.x_min={{type="neumann"; {flux};}}', "time.end=500.0", "output.interval=50.0", "time.tolerance=0.1", 'time.method="implicit"']
    found = check(tmp_path, *settings)
    said = " lasts less than a thousandth of 50 s, the time between outputs, so the steps that the tolerance chooses may miss some of it; give the mean in time, or a shorter output.interval"
    assert [w.endswith(said) for w in found if "between two rows" not in w] == [True] * warned, found
    assert len(found) <= 1  # it says more than that no row has the peaks


PATCHED = 'boundary.y_min={type="reflective"; patches=({type="neumann"; flux=0.0; lower=[0.1]; upper=[0.2];});}'
# with steps of 2 s; the line of the pulse, or None: no warning
PULSES = [
    (['source={expression="t > 100 && t < 101 ? 1e6 : 0";}'], "source.expression"),
    (['source={expression="(t > 100 && t < 101 ? 1e6 : 0)*(1 + x)";}'], "source.expression"),
    (['boundary.x_min={type="dirichlet"; value="300 + (t > 100 && t < 101 ? 50 : 0)*y";}'], "boundary.x_min.value"),
    (['boundary.x_min={type="dirichlet"; value="300 + sin(6*t)";}'], "boundary.x_min.value"),
    ([PATCHED, 'boundary.x_min={type="neumann"; flux="t > 100 && t < 101 ? -1e6 : 0";}'], "boundary.x_min.flux"),
    ([PATCHED, 'boundary.x_min={type="neumann"; flux="(t > 100 && t < 101 ? -1e6 : 0)*(1 + y)";}'], "boundary.x_min.flux"),
    (['source={expression="t > 100 && t < 105 ? 1e6 : 0";}'], None),  # as long as steps see
    (['source={expression="t > 101 ? 1e6 : 0";}'], None),  # sets in
    (['boundary.x_min={type="dirichlet"; value="300 + 20*sin(t/5)";}'], None),
    (['boundary.x_min={type="dirichlet"; value="300 + t + (t > 100 && t < 101 ? 5 : 0)";}'], None),  # insignificant
    ([PATCHED, 'source={expression="1e6*exp(-((x - 0.001*t)/0.1)^2)";}'], None),  # passes slowly
    ([PATCHED, 'source={expression="t > 100 && t < 101 ? 1e6 : 0";}'], "source.expression"),
]


@pytest.mark.parametrize("settings, place", PULSES, ids=[s[-1] for s, _ in PULSES])
def test_what_no_step_sees_of_an_expression_is_a_warning(tmp_path, settings, place):
    more = [*settings, "time.end=600.0", "time.step=2.0"]
    seen = [w for w in check(tmp_path, *more, 'time.method="implicit"') if "lies between two steps, which are 2 s long" in w]
    assert [w.split(" = ")[0] for w in seen] == ([f"--set: {place}"] if place else []), seen
    assert not seen or "sin" in more[0] or 100 <= float(seen[0].split("at t = ")[1].split(" s lies")[0]) <= 101
    assert not any("the run misses it" in w for w in check(tmp_path, *more, "time.tolerance=0.1", 'time.method="implicit"'))


@pytest.mark.parametrize("key, given", [
    ("materials[0].source", 'source = "t > 100 && t < 101 ? 1e6 : 0";'),
    ("materials[0].source_table", 'source_table = "pulse.csv";'),
    ("materials[0].perfusion.reference", 'perfusion = { rate = 1e4; reference = "t > 100 && t < 101 ? 900 : 300"; };'),
    ("materials[0].perfusion.reference_table", 'perfusion = { rate = 1e4; reference_table = "pulse.csv"; };'),
])  # fmt: skip
def test_what_no_step_sees_of_a_material_is_a_warning(tmp_path, key, given):
    (tmp_path / "pulse.csv").write_text("0 300\n100 300\n100.5 9e4\n101 300\n")
    case = STEEL.replace("material = {", 'materials = ( { name = "steel";', 1)
    (tmp_path / "steel.cfg").write_text(case.replace("434.0; };", f'434.0; {given} }} );\nbody = ( {{ material = "steel"; }} );'))
    options = ("--set", "time.end=600.0", "--set", "time.step=2.0", "--set", 'time.method="implicit"')
    found = json.loads(must(tmp_path, "check", "steel.cfg", "--json", *options))["warnings"]
    seen = [w.split(" = ")[0] for w in found if "lies between two steps, which are 2 s long" in w]
    assert seen == [f"steel.cfg:2: {key}"], found


@pytest.mark.parametrize("setting, key", [
    ('boundary.x_min={type="neumann"; flux_file="map.npy";}', "boundary.x_min.flux_file"),
    ('source={file="map.npy";}', "source.file"),
    ('source={file="map.npy"; step=-1;}', None),  # chosen
    ('initial={file="map.npy";}', None),  # of an earlier run
])
@pytest.mark.parametrize("steps", [1, 3])
def test_a_file_of_several_steps_that_acts_at_all_times_is_a_warning(tmp_path, setting, key, steps):
    """It does not change in time: its last step counts."""
    np.save(tmp_path / "map.npy", np.full((steps, 21) if "boundary" in setting else (steps, 21, 51), 300.0))
    found = check(tmp_path, setting, PATCHED)
    wanted = f'--set: {key} = "map.npy": has 3 steps, of which the last is used at all times; give only that one. For values that change in time give an expression or a table'
    assert found == [wanted] * (steps == 3 and key is not None)


@pytest.mark.parametrize("setting, key, what", [
    ('source={expression="x > 100 && x < 200 ? 1e6 : 0";}', "source.expression", "source"),  # mm
    ('source={expression="x > 0.1001 && x < 0.1099 ? 1e6 : 0";}', "source.expression", "source"),  # between two nodes
    ('boundary.x_min={type="neumann"; flux="y > 50 ? -1e5 : 0";}', "boundary.x_min.flux", "flux"),
    ('source={expression="x > 0.1 && x < 0.2 ? 1e6 : 0";}', None, None),
    ('source={expression="x > 100 && t > 9 ? 1e6 : 0";}', None, None),  # may come
    ('source={value=0.0;}', None, None),  # chosen
    ('boundary.x_min={type="dirichlet"; value="300*(y < 50)";}', None, None),
])
@pytest.mark.parametrize("body", [False, True])
def test_what_acts_at_no_node_is_a_warning(tmp_path, setting, key, what, body):
    found = [w for w in check(tmp_path, setting, *[PATCHED] * body) if "at every node" in w]
    assert len(found) == (key is not None), found
    assert not key or (f"the {what} is 0 at every node; look at its coordinates" in found[0] and found[0].startswith("--set: boundary.x_min" if what == "flux" else f"--set: {key}"))


GAUSS = "exp(-((x-0.25%s)^2+(y-0.1)^2)/(2*%g^2))"


# nodes are 1 cm apart
@pytest.mark.parametrize("setting, key, times", [
    ('source={expression="1e9*' + GAUSS % ("", 0.003) + '";}', "source.expression", "1.8 "),  # of h/(sqrt(2 pi) s)*(1 + 2 exp(-(h/s)^2/2)), squared
    ('source={expression="1e9*' + GAUSS % ("", 0.007) + '";}', None, None),
    ('source={value="1e9*' + GAUSS % ("-0.005", 0.002) + '";}', "source.value", "0.35"),  # between nodes
    ('source={expression="x >= 0.2 && x <= 0.23 ? 1e6 : 0";}', "source.expression", "1.33"),  # four nodes for three cells
    ('source={expression="x > 0.195 && x < 0.235 ? 1e6 : 0";}', None, None),
    ('source={expression="1e6*cos(20*pi*x)*cos(10*pi*y)";}', None, None),  # nothing in all
    ('boundary.x_min={type="neumann"; flux="-1e5*exp(-((y-0.1)/0.004)^2)";}', "boundary.x_min.flux", "1.42"),
    ('boundary.x_min={type="robin"; h=5.0; ambient=300.0; flux="-1e5*exp(-((y-0.1)/0.004)^2)";}', "boundary.x_min.flux", "1.42"),
    ('boundary.x_min={type="dirichlet"; value="300+exp(-((y-0.1)/0.004)^2)";}', None, None),
    ('source={expression="1e9*' + GAUSS % ("+0.1-t/3000", 0.003) + '";}', "source.expression", "1.3"),  # moves along x: across it alone
    ('source={expression="abs(x - 0.2) < 5e-4 ? 1e6 : 0";}', "source.expression", "10.7"),  # a foil of 1 mm, by 64 places a cell
    ('source={expression="x == 0.2 ? 1e6 : 0";}', None, None),  # that node
    ('source={expression="x < 0.012 && t < 0.5 ? 1e6 : 0";}', "source.expression", "1.25"),  # a flash
    ('source={expression="x > 100 ? 1e6 : 0";}', None, None),  # is nowhere
])
def test_a_source_of_which_nodes_take_too_much_is_a_warning(tmp_path, setting, key, times):
    """A node takes its own value for all of its control volume."""
    found = [w for w in check(tmp_path, setting) if "the nodes take" in w]
    assert len(found) == (key is not None), found
    assert not key or (f"--set: {key} = " in found[0] and f"the nodes take {times}" in found[0]), found


GUARDED = 'boundary.y_min={type="dirichlet"; value=%g; patches=({type="dirichlet"; value=310.0; lower=[0.0]; upper=[%g];});}'


# nodes are 1 cm apart
@pytest.mark.parametrize("setting, times", [
    (GUARDED % (310.0, 0.2), "y_min_1 is that of 1.025 times"),
    (GUARDED % (300.0, 0.2), "y_min_1 is that of 1.025 times"),
    (GUARDED % (310.0, 0.205), None),
    (GUARDED.replace("({", '({type="fixed"; lower=[0.2]; upper=[0.3];}, {') % (310.0, 0.2), "y_min_2 is that of 1.025 times"),
    ('boundary.y_min={type="reflective"; patches=({type="dirichlet"; value=310.0; lower=[0.1]; upper=[0.2];});}', None),
])
def test_a_flux_of_more_than_a_patch_is_a_warning(tmp_path, setting, times):
    """The meter of a guarded hot plate: its conductivity came out 2.5 % too large."""
    found = [w for w in check(tmp_path, setting) if "times its area" in w]
    assert [times in w for w in found] == [True] * (times is not None), found


@pytest.mark.parametrize("interval, warned", [(30, True), (86400, False)])
def test_very_many_snapshots_are_a_warning(tmp_path, interval, warned):
    """An interval of 30 days in seconds, in a run of ten years: ten million snapshots and steps."""
    found = check(tmp_path, "time.end=315576000", "time.step=86400", 'time.method="implicit"', f"output.interval={interval}", "grid={points=[301]; upper=[30.0];}")
    text = "--set: output.interval = 30: that makes 10519200 snapshots, and no step can be longer than the interval; it is in s"
    assert found == [text] * warned


@pytest.mark.parametrize("setting, key, kept", [
    ("source={value=%g;}", "source.value", (0.1, 1.0, 10.0)),
    ('source={expression="%g*(1+cos(pi*x))";}', "source.expression", (0.1, 0.5, 10.0)),
    ('boundary.x_max={type="neumann"; flux=-%g;}', "boundary.x_max.flux", (0.01, 0.1, 30.0)),
])
def test_heat_that_float_loses_is_a_warning(tmp_path, setting, key, kept):
    """Of 101 nodes at 283 K a float is known to 3e-5 K, and a source of 1 W/m^3 warms them by 2e-5 K a sweep. No term of
    the balance was larger than what rounding can leave, so it closed."""
    soil = "grid = { points = [101]; upper = [1.0]; };\nmaterial = { conductivity = 2.0; density = 1800.0; specific_heat = 1200.0; };\n"
    (tmp_path / "soil.cfg").write_text(soil + 'initial = { value = 283.15; };\nboundary = { all = { type = "reflective"; }; };\ntime = { end = 86400.0; };\n')
    for strength, precision in [(s, p) for s in kept for p in ("float", "double")]:
        words = [w for s in (setting % strength, f"precision={precision}") for w in ("--set", s)]
        result = json.loads(must(tmp_path, "run", "soil.cfg", *words, "--quiet", "--json", "--overwrite"))
        with h5py.File(tmp_path / "soil.h5") as f:
            share = (f["history/heat"][-1] - f["history/heat"][0]) / (strength * 86400.0)
        found = [w for w in result["warnings"] if w.startswith(f"--set: {key} = ") and "this heat is lost; give precision" in w]
        told = [w for w in result["warnings"] if "the roundings of" not in w]
        assert len(found) == len(told) == (precision == "float" and strength < 2.0), result["warnings"]
        assert share < 0.5 if found else share == pytest.approx(1.0, abs=0.05), (strength, precision, share)


@pytest.mark.parametrize("method, loses", [('"rkl2"; step=8640.0', True), ('"rkl2"; tolerance=1e-3', True), ('"implicit"; step=8640.0', False), ('"spectral"', False), ('"exponential"', False)])
def test_only_methods_that_sweep_in_float_lose_heat(tmp_path, method, loses):
    """The stages of rkl2 lost all of 0.1 W/m^3, without a warning; spectral, which computes in double, lost nothing, with one."""
    (tmp_path / "soil.cfg").write_text(
        'grid = { points = [101]; upper = [1.0]; };\nprecision = "float";\nmaterial = { conductivity = 2.0; density = 1800.0; specific_heat = 1200.0; };\n'
        f'initial = {{ value = 283.15; }};\nboundary = {{ all = {{ type = "reflective"; }}; }};\ntime = {{ end = 86400.0; method = {method}; }};\n')
    for strength in (0.1, 10.0):
        result = json.loads(must(tmp_path, "run", "soil.cfg", "--set", f"source={{value={strength};}}", "--quiet", "--json", "--overwrite"))
        lost = loses and strength == 0.1
        assert any("this heat is lost" in w for w in result["warnings"]) == lost, result["warnings"]
        share = (result["mean"] - float(np.float32(283.15))) / (strength * 86400.0 / (1800.0 * 1200.0))
        assert share == pytest.approx(0.0 if lost else 1.0, abs=0.05)


def test_nor_does_a_steady_state_that_is_solved_for(tmp_path):
    (tmp_path / "soil.cfg").write_text(
        'grid = { points = [41]; upper = [1.0]; };\nprecision = "float";\nmaterial = { conductivity = 2.0; density = 1800.0; specific_heat = 1200.0; };\n'
        'initial = { value = 283.15; };\nsource = { value = 0.1; };\nboundary = { all = { type = "dirichlet"; value = 283.15; }; };\nsteady = { tolerance = 1e-6; method = "multigrid"; };\n')
    result = json.loads(must(tmp_path, "run", "soil.cfg", "--quiet", "--json"))
    assert not result["warnings"] and result["max"] - 283.15 == pytest.approx(0.1 / 16.0, rel=0.01)


@pytest.mark.parametrize("method", ["spectral", "exponential"])
def test_modes_do_not_round_each_sweep(tmp_path, method):
    """Their warning spoke of 1.4 K."""
    (tmp_path / "bar.cfg").write_text(
        'grid = { points = [41]; upper = [0.1]; };\nprecision = "float";\nmaterial = { diffusivity = 1e-4; };\n'
        'initial = { expression = "300 + 0.01*cos(10*pi*x)"; };\nboundary = { all = { type = "reflective"; }; };\n'
        f'time = {{ end = 30000.0; step = 0.03; method = "{method}"; }};\n')
    result = json.loads(must(tmp_path, "run", "bar.cfg", "--quiet", "--json"))
    assert result["sweeps"] == 1000000 and result["min"] == result["max"] == 300.0 and not result["warnings"]


@pytest.mark.parametrize("base, precision, warned", [(293.15, "float", True), (293.15, "double", False), (0.0, "float", False)])
@pytest.mark.parametrize("method, step", [("euler", "step = 1.5e-5"), ("implicit", "tolerance = 1e-4")])
def test_what_rounding_may_change_is_a_warning(tmp_path, base, precision, method, step, warned):
    """A flash that warms 2 mm of alumina by 0.08 K, on 101 nodes: after 33,000 sweeps its rear was 42 % too cold, its front 35 % too warm."""
    (tmp_path / "flash.cfg").write_text(
        "grid = { points = [101]; upper = [0.002]; };\nmaterial = { conductivity = 36.0; density = 3970.0; specific_heat = 765.0; };\n"
        f'boundary = {{ x_min = {{ type = "neumann"; flux = "t < 1e-3 ? -5e5 : 0"; }}; x_max = {{ type = "reflective"; }}; }};\nprecision = "{precision}";\n'
        f'initial = {{ value = {base}; }};\ntime = {{ end = 0.5; method = "{method}"; {step}; }};\n')
    result = json.loads(must(tmp_path, "run", "flash.cfg", "--quiet", "--json"))
    found = [w for w in result["warnings"] if "the roundings of" in w]
    assert len(found) == (warned and method == "euler"), result["warnings"]
    with h5py.File(tmp_path / "flash.h5") as f:
        share = (f["temperature"][-1, -1] - base) / (500.0 / (3970.0 * 765.0 * 0.002))
    assert share < 0.7 if found else share == pytest.approx(1.0, abs=0.05)
    assert not found or found[0].startswith('flash.cfg: precision = "float": the roundings of 33334 sweeps may put it off by 0.04')


FLASH = 'boundary.x_min={type="neumann"; flux="t < 5 ? -1e4 : 0";}'
DUTY = 'boundary.x_min={type="neumann"; flux="fmod(t,100)<30 ? -1e4 : 0";}'


@pytest.mark.parametrize("settings, warned", [
    ([DUTY, "time.step=10.0"], True),  # three steps a pulse, which ends where one of them ends, but for rounding
    ([DUTY, "time.step=1.0"], False),
    ([DUTY, "time.step=10.0", "time.tolerance=0.1"], False),
    ([DUTY.replace("t,", "t+2.5,"), "time.step=20.0"], True),  # within steps: two of them for one and a half
    ([PATCHED, DUTY, "time.step=10.0"], True),
    ([PATCHED, DUTY.replace("-1e4", "-1e4*y"), "time.step=10.0"], True),
    (['source={expression="fmod(t,100)<30 ? 1e6*x : 0";}', "time.step=10.0"], True),
    (['boundary.x_min={type="neumann"; flux="1e4*sin(t/20)";}', "time.step=10.0"], False),
    (['boundary.x_min={type="neumann"; flux="10*t";}', "time.step=100.0"], False),
    (['boundary.x_min={type="neumann"; flux="t > 300 ? 1e4 : 0";}', "time.step=20.0"], False),
    ([FLASH, "time.step=10.0"], True),  # half a step: implicit took twice the heat
    ([PATCHED, FLASH, "time.step=10.0"], True),
    ([FLASH.replace("-1e4", "-1e4 - 10").replace(": 0", ": -10"), "time.step=10.0"], True),
    (['boundary.x_min={type="dirichlet"; value="t < 5 ? 800 : 20";}', "time.step=10.0"], False),  # a quench
    ([FLASH, "time.step=1e-3"], False),
    ([FLASH, "time.step=0.1", "time.end=6e5"], False),
    ([FLASH, "time.step=10.0", "time.end=6e5"], True),  # 60,000 steps
    (['source={expression="t < 4 && x < 0.01 ? 1e6 : 0";}', "time.step=10.0"], True),
    (['boundary.x_min={type="neumann"; flux_table="flash.csv";}', "time.step=10.0"], True),
    (['boundary.x_min={type="neumann"; flux="-1e4*exp(-t/4)";}', "time.step=10.0"], True),
    (['boundary.x_min={type="neumann"; flux="max(min(min(t - 100, 110 - t), 1), 0)*-1e6";}', "time.step=2.0"], True),  # 8 of 9 s
    (['boundary.x_min={type="neumann"; flux="t < 5 ? 0 : -1e4";}', "time.step=10.0"], False),  # it begins within a step
    (['boundary.x_min={type="neumann"; flux="t < 600 ? -1e4 : 0";}', "time.step=10.0"], False),
])
def test_pulses_that_steps_take_for_too_much_are_a_warning(tmp_path, settings, warned):
    """Methods see values at the ends of steps. By three steps a pulse, implicit took 12 % too little heat."""
    (tmp_path / "flash.csv").write_text("0,-1e4\n1e-3,-1e4\n1.001e-3,0\n")
    found = [w for w in check(tmp_path, *settings, "time.end=600.0", 'time.method="implicit"') if "too much or too little" in w]
    assert len(found) == warned, found
    assert not warned or "give a shorter time.step, or a method with time.tolerance" in found[0]


@pytest.mark.parametrize("settings, method", [
    (["time.end=1e12"], "implicit"),
    (["time.end=1e12", "boundary.x_max={type=\"fixed\";}", "stencil.radius=2"], "rkl2"),
    (["time.end=1e10"], None),  # 7e7 sweeps
    (["time.sweeps=2000000000"], None),  # as asked for
    (["time.end=1e12", "time.tolerance=0.1", "time.method=\"implicit\""], None),
])
def test_very_many_sweeps_are_a_warning(tmp_path, settings, method):
    settings = [*settings, "grid.upper=[5.0, 2.0]"]
    about = [w for w in check(tmp_path, *settings) if "no stable one" in w]
    assert len(about) == (method is not None), about
    assert method is None or f'time.method = "{method}" with a time.tolerance' in about[0]


@pytest.mark.parametrize("settings, remedy", [
    (['time.method="implicit"'], "8.6e+13 steps to time.end = 86400; give a longer one, or a time.tolerance instead"),
    (['time.method="implicit"', "time.tolerance=0.1"], "8.6e+13 steps to time.end = 86400; give a longer one, or leave it out"),
    (['time.method="rkl2"'], "8.6e+13 steps to time.end = 86400; give a longer one, or a time.tolerance instead"),
    (["boundary={all={type=\"reflective\";};}", 'time.method="exponential"'], "8.6e+13 steps to time.end = 86400; give a longer one"),
    ([], "8.6e+13 steps to time.end = 86400; leave it out: the longest stable one is 1.41 s"),
    (["time.step=0.001", 'time.method="implicit"'], None),
])
def test_a_step_far_too_short_is_a_warning(tmp_path, settings, remedy):
    step = [] if any("time.step" in s for s in settings) else ["time.step=1e-9"]
    about = [w for w in check(tmp_path, "time.end=86400.0", *step, *settings) if "time.step" in w]
    assert about == ([f"--set: time.step = 1e-09: that takes {remedy}"] if remedy else [])


def test_a_probe_outside_is_refused(tmp_path):
    (tmp_path / "steel.cfg").write_text(STEEL + 'probes = ( { name = "mm"; at = [250, 100]; } );\n')
    done = heatsolve(tmp_path, "check", "steel.cfg")
    assert done.returncode == 2
    assert "steel.cfg:8: probes[0].at: lies outside the grid along x; give a place from 0 to 0.5 m" in done.stderr


def test_a_field_of_a_later_time_beside_walls_that_change_is_a_warning(tmp_path):
    """A run from the file of another begins at t = 0: its walls' sine began anew, and nothing said so."""
    rod = """\
grid = { points = [11]; upper = [1.0]; };
material = { diffusivity = 1.0; };
initial = { value = 0.0; };
boundary = { all = { type = "dirichlet"; value = "sin(20*t)"; }; };
time = { end = 0.05; };
output = { file = "rod.h5"; };
"""
    (tmp_path / "rod.cfg").write_text(rod)
    must(tmp_path, "run", "rod.cfg", "--quiet")
    on = rod.replace("value = 0.0;", 'file = "rod.h5";').replace('output = { file = "rod.h5"', 'output = { file = "on.h5"')
    (tmp_path / "on.cfg").write_text(on)

    def said(*settings):
        words = [word for setting in settings for word in ("--set", setting)]
        return json.loads(must(tmp_path, "check", "on.cfg", "--json", *words))["warnings"]

    (warning,) = said()
    assert warning.startswith('on.cfg:3: initial.file = "rod.h5": the file\'s field is of t = 0.05 s, but this run begins at t = 0')
    assert said("initial.step=0") == said("boundary.all.value=1.0") == []
    assert len(said("boundary.all.value=1.0", "exact.expression=exp(-t)")) == 1
    with h5py.File(tmp_path / "rod.h5") as f:
        np.save(tmp_path / "rod.npy", f["temperature"][-1])
    assert said('initial.file="rod.npy"') == []


@pytest.mark.parametrize(
    "source, said",
    [
        ("x == 0.3 ? 1000 : 0", "no node is at x == 0.3, the nearest is at 0.30000000000000004; use < and >"),
        ("(0.25 != x)*1000", "no node is at x == 0.25, the nearest is at 0.20000000000000001; use <"),
        ("x == 0.5 ? 1000 : 0", None),  # 5 * 0.1 is 0.5
        ("x == 0 || x == 1 ? 1000 : 0", None),
        ("t == 0 ? 0 : 1000*x", None),
    ],
)
def test_a_node_that_a_source_would_meet_exactly_is_a_warning_if_there_is_none(tmp_path, source, said):
    """The first source was 0 at all nodes, and the rod stayed cold without a word."""
    rod = "grid = { points = [11]; upper = [1.0]; }; material = { diffusivity = 1.0; }; initial = { value = 0.0; };\n"
    (tmp_path / "rod.cfg").write_text(f'{rod}source = {{ expression = "{source}"; }};\ntime = {{ end = 0.05; }};\n')
    warnings = json.loads(must(tmp_path, "check", "rod.cfg", "--json"))["warnings"]
    assert len(warnings) == (said is not None) + (source[:8] == "x == 0.3")  # the source is 0 everywhere, too
    assert not said or warnings[0].startswith(f'rod.cfg:2: source.expression = "{source}": {said}')


@pytest.mark.parametrize("more", ["", " patches = ( { lower = [0.0]; upper = [0.1]; type = \"reflective\"; } );"])
@pytest.mark.parametrize(
    "face, value, said",
    [
        ("y_max", "100*sin(pi*y)", "on all of y_max y is 0.2, so this has one value on the whole face; was another coordinate meant?"),
        ("x_min", "300 + x*t", "on all of x_min x is 0, so"),
        ("y_max", "300 + x", None),
        ("y_max", "300 + x*y", None),
        ("y_max", "300 + t", None),
        ("all", "300 + y", None),
    ],
)
def test_a_wall_that_goes_by_its_own_axis_is_a_warning(tmp_path, face, value, said, more):
    """y_max at 100*sin(pi*y), for x, was 0 all along, without a word; in a body, and beside patches, too."""
    if more and face == "all":
        return
    plate = "grid = { points = [11, 11]; upper = [0.2, 0.2]; }; material = { diffusivity = 1.0; };\n"
    wall = f'{face} = {{ type = "dirichlet"; value = "{value}";{more} }};'
    rest = "initial = { value = 300.0; }; time = { end = 0.05; };\n"
    (tmp_path / "plate.cfg").write_text(f"{plate}boundary = {{ {wall} }};\n{rest}")
    warnings = [w for w in json.loads(must(tmp_path, "check", "plate.cfg", "--json"))["warnings"] if "coordinate" in w]
    assert len(warnings) == bool(said), warnings
    assert not said or warnings[0].startswith(f'plate.cfg:2: boundary.{face}.value = "{value}": {said}')


@pytest.mark.parametrize(
    "more, said",
    [
        ("", "rod.cfg: boundary.x_min.type: with radius 2 this wall holds the 2 outermost layers at their initial temperatures"),
        ("boundary = { all = { type = \"fixed\"; }; };", "rod.cfg:4: boundary.all.type = \"fixed\": with radius 2"),
        ("boundary = { all = { type = \"dirichlet\"; value = 0.0; }; };", None),
        ("stencil = { radius = 1; };", None),
        ("initial = { value = 1.0; };", None),
    ],
)
def test_a_fixed_wall_of_several_layers_is_a_warning_where_they_differ(tmp_path, more, said):
    """A sine between walls of radius 2 kept its second layer, too: off by 0.1 and of first order, without a word."""
    lines = ["grid = { points = [21]; upper = [1.0]; }; material = { diffusivity = 1.0; }; time = { end = 0.1; };"]
    lines += ["" if "stencil" in more else "stencil = { radius = 2; };"]
    lines += ["" if "initial" in more else 'initial = { expression = "sin(pi*x)"; };', more]
    (tmp_path / "rod.cfg").write_text("\n".join(lines))
    warnings = json.loads(must(tmp_path, "check", "rod.cfg", "--json"))["warnings"]
    assert len(warnings) == bool(said), warnings
    assert not said or warnings[0].startswith(said)


QUENCHED = """\
grid = { points = [21]; upper = [1.0]; };
material = { conductivity = 1.0; density = 1000.0; specific_heat = 1000.0; };
initial = { value = 100.0; };
boundary = { all = { type = "reflective"; }; x_min = { type = "robin"; h = %g; ambient = 0.0; }; };
time = { end = 20000.0; };
output = { file = "rod.h5"; history_every = 1; overwrite = true; };
"""


MATERIALS = """materials = ( { name = "a"; conductivity = 1.0; density = 1000.0; specific_heat = 1000.0; },
              { name = "b"; conductivity = 1.1; density = 1000.0; specific_heat = 1000.0; } ); """


@pytest.mark.parametrize("radius", [1, 2, 3, "body"])
@pytest.mark.parametrize("h", [20.0, 40.0, 100.0, 180.0])
def test_a_sweep_that_swings_past_the_ambient_is_a_warning(tmp_path, h, radius):
    """With h = 100 the wall of a rod of 100 beside air of 0 was at -45 after the first sweep, without a word."""
    text, kind = QUENCHED % h, ["--set", f"stencil.radius={radius}"]
    if radius == "body":
        two = 'body = ( { material = "a"; }, { material = "b"; shape = "box"; lower = [0.5]; upper = [1.0]; } );'
        text, kind = "\n".join(MATERIALS + two if "material =" in line else line for line in text.splitlines()), []
    (tmp_path / "rod.cfg").write_text(text)
    for more in [], ["--set", "time.safety=0.5"]:
        done = heatsolve(tmp_path, "run", "rod.cfg", *kind, *more)
        with h5py.File(tmp_path / "rod.h5") as f:
            first = f["history/min"][1]
        assert h == 40.0 or (first < 0.0) == (not more and h > 40.0)
        past = f"takes this wall past the ambient temperature by {-first:.2g} K, and its temperature swings for some sweeps more; give time.safety = 0.5"
        assert done.returncode == 0 and (past in done.stderr) == ("warning" in done.stderr) == (first < -10.0), done.stderr


@pytest.mark.parametrize(
    "settings, said",
    [
        (["output.every=1000"], "output.every = 1000: the run has 400 sweeps, so it makes no snapshot on its way"),
        (['time={end=600.0; method="implicit"; tolerance=0.1;}', "output.history_every=5"],
         "output.history_every = 5: there are rows at snapshots only"),
        (['time={end=600.0; method="implicit"; tolerance=0.1;}', "output.interval=100.0", "output.history_every=2"],
         "output.history_every = 2: there are rows at snapshots only"),
        (['time={end=600.0; method="implicit"; tolerance=0.1;}', "output.history_every=1"],
         "output.history_every = 1: there are rows at snapshots only"),
        (['time={end=600.0; step=10.0; method="implicit"; tolerance=0.1;}', "output.history_every=1"], None),
        (["output.every=400"], None),
        (["output.every=1000", "time={}", "steady={tolerance=1e-6;}"], None),
        (["output.every=1000", "time={}", 'steady={tolerance=1e-6; method="multigrid";}'], None),
    ],
)  # fmt: skip
def test_output_every_more_steps_than_there_are_is_a_warning(tmp_path, settings, said):
    """A history every 5 steps of implicit had the rows of the begin and the end, without a word."""
    text = STEEL.replace("time = { end = 600.0; };", "time = { sweeps = 400; };")
    (tmp_path / "steel.cfg").write_text(text)
    words = [word for setting in settings for word in ("--set", setting)]
    warnings = json.loads(must(tmp_path, "check", "steel.cfg", *words, "--json"))["warnings"]
    assert len(warnings) == bool(said), warnings
    assert not said or said in warnings[0]
