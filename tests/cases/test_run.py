"""heatsolve run, check and verify from the outside: exit codes, messages, files, signals."""

import json
import os
import re
import signal
import subprocess
import time

import h5py
import numpy as np
import program
import pytest

BASE = """
title = "a bar";
grid = { points = [41]; spacing = 0.1; };
material = { diffusivity = 1.0; };
initial = { expression = "sin(pi*x/4)"; };
boundary = { all = { type = "dirichlet"; value = 0.0; }; };
time = { end = 1.0; };
output = { file = "out.h5"; interval = 0.1; };
exact = { expression = "exp(-(pi/4)^2*t)*sin(pi*x/4)"; };
"""


def heatsolve(directory, *arguments, text=BASE):
    if text is not None:
        (directory / "case.cfg").write_text(text)
    return program.heatsolve(directory, *arguments, timeout=300)


def files(directory):
    return sorted(path.name for path in directory.iterdir() if path.name != "case.cfg")


# ---- the command line ----------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["run", "check", "verify"])
def test_help_names_every_option(tmp_path, command):
    result = heatsolve(tmp_path, command, "--help")
    assert result.returncode == 0 and result.stderr == ""
    usage = result.stdout.splitlines()[0]
    for word in usage.replace("[", " ").replace("]", " ").split():
        if word.startswith("--"):
            assert result.stdout.count(word) >= 2, f"{word} is in the usage and not explained"
    assert "exit status" in result.stdout


@pytest.mark.parametrize("command", ["run", "bench"])
def test_help_is_a_word_too(tmp_path, command):
    assert heatsolve(tmp_path, "help", command).stdout == heatsolve(tmp_path, command, "--help").stdout != ""
    assert heatsolve(tmp_path, "help").stdout == heatsolve(tmp_path, "--help").stdout != ""
    assert heatsolve(tmp_path, command, "case.cfg", "--help").stdout == heatsolve(tmp_path, command, "--help").stdout
    result = heatsolve(tmp_path, "help", "rum")
    assert result.returncode == 2 and "rum: no such command; did you mean run?" in result.stderr


@pytest.mark.parametrize(
    "words, message",
    [
        (["version", "x"], "version: x: one argument too many"),
        (["version", "--json"], "version: --json: no such option"),
        (["--version", "x"], "x: one argument too many"),
        (["help", "run", "nosuch"], "help: nosuch: one argument too many"),
    ],
)
def test_version_and_help_refuse_what_they_do_not_read(tmp_path, words, message):
    result = heatsolve(tmp_path, *words)
    assert (result.returncode, result.stdout) == (2, "") and message in result.stderr


@pytest.mark.parametrize(
    "name, remedy",
    [("rum", "did you mean run?"), ("chekc", "did you mean check?"), ("solve", "heatsolve --help lists them")],
)
def test_a_mistyped_command_is_answered(tmp_path, name, remedy):
    result = heatsolve(tmp_path, name)
    assert result.returncode == 2 and f"{name}: no such command; {remedy}" in result.stderr


def test_a_config_in_place_of_a_command_is_answered(tmp_path):
    result = heatsolve(tmp_path, "case.cfg")
    assert result.returncode == 2
    assert "case.cfg: a file, but no command; to run a config: heatsolve run CONFIG; heatsolve --help lists" in result.stderr


def test_one_mistake_is_one_message(tmp_path):
    """A wrong conductivity is not also reported as missing by the walls that need one."""
    walls = ["--set", 'boundary.x_min.type="robin"', "--set", "boundary.x_min.h=1.0", "--set", "boundary.x_min.ambient=1.0"]
    text = BASE.replace("diffusivity = 1.0", "conductivity = -1.0; density = 1.0; specific_heat = 1.0").replace(" value = 0.0;", "")
    text = text.replace('"dirichlet"', '"reflective"')
    result = heatsolve(tmp_path, "check", "case.cfg", *walls, text=text)
    assert result.returncode == 2 and "material.conductivity = -1.0: must be > 0" in result.stderr
    assert len(result.stderr.splitlines()) == 1, result.stderr
    lacking = heatsolve(tmp_path, "check", "case.cfg", *walls, text=BASE.replace('"dirichlet"', '"reflective"').replace(" value = 0.0;", ""))
    assert "convection needs material.conductivity" in lacking.stderr


@pytest.mark.parametrize("command", ["run", "check", "verify"])
@pytest.mark.parametrize(
    "arguments, code, message",
    [
        ([], 2, "needs a config file"),
        (["case.cfg", "other.cfg"], 2, "other.cfg: one argument too many"),
        (["case.cfg", "--fast"], 2, "--fast: no such option"),
        (["case.cfg", "--set"], 2, "--set: needs a value"),
        (["none.cfg"], 3, "none.cfg"),
        (["case.cfg", "--set", "grid.pionts=[9]"], 2, "grid.points"),
    ],
)
def test_a_bad_command_line_writes_nothing(tmp_path, command, arguments, code, message):
    result = heatsolve(tmp_path, command, *arguments)
    assert result.returncode == code, result.stderr
    assert message in result.stderr
    assert result.stdout == ""
    assert files(tmp_path) == []


@pytest.mark.parametrize(
    "arguments, code",
    [
        (["case.cfg", "--fast"], 2),
        (["none.cfg"], 3),
        (["case.cfg", "--set", "grid.pionts=[9]", "--set", "time.ende=1"], 2),
        (["case.cfg", "--output", "case.cfg"], 2),
        (["case.cfg", "--output", "case.cfg/a.h5"], 3),
        (["case.cfg", "--set", "exact.max_error=1e-9"], 1),
        (["case.cfg"], 0),
    ],
)
def test_json_is_one_object_however_a_run_ends(tmp_path, arguments, code):
    result = heatsolve(tmp_path, "run", *arguments, "--json", "--quiet")
    said = json.loads(result.stdout)
    assert result.returncode == said["exit_code"] == code, result.stderr
    assert said["status"] == {0: "finished", 1: "failed check"}.get(code, "failed")
    assert result.stderr == (f"heatsolve: {said['error']}\n" if code else "") and (code or said["error"] is None)
    assert len(said) == 3 or code < 2


def test_an_output_that_is_a_link_stays_one(tmp_path):
    """It may lead to a disk with more space."""
    (tmp_path / "large").mkdir()
    assert heatsolve(tmp_path, "run", "case.cfg", "--quiet", "--output", "large/real.h5").returncode == 0  # an older run's
    (tmp_path / "large/real.xdmf").unlink()
    (tmp_path / "out.h5").symlink_to("large/real.h5")
    result = heatsolve(tmp_path, "run", "case.cfg", "--quiet", "--overwrite")
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "out.h5").is_symlink() and sorted(os.listdir(tmp_path / "large")) == ["real.h5"]
    with h5py.File(tmp_path / "out.h5") as f:
        assert f.attrs["status"] == "finished"


@pytest.mark.parametrize("closed", ["2>&-", ">&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_what_is_said_never_lands_in_the_output(tmp_path, closed):
    """The next file that is opened takes the number of a closed stream, and progress is written to number 2."""
    (tmp_path / "case.cfg").write_text(BASE)
    steps = "--set output.history_every=1 --set time.end=0.2 --set output.interval=0.001"
    run = f'"{program.HEATSOLVE}" run case.cfg {steps}'
    assert subprocess.run(f"{run} --output whole.h5 --quiet", cwd=tmp_path, shell=True).returncode == 0
    assert subprocess.run(f"{run} --output closed.h5 {closed}", cwd=tmp_path, shell=True, capture_output=True).returncode == 0
    with h5py.File(tmp_path / "whole.h5") as whole, h5py.File(tmp_path / "closed.h5") as found:
        assert (whole["temperature"][...] == found["temperature"][...]).all()
    assert b"GCell/s" not in (tmp_path / "closed.h5").read_bytes()


@pytest.mark.parametrize(
    "arguments",
    [["init"], ["options"], ["--version"], ["--help"], ["run", "--help"], ["check", "case.cfg"], ["run", "case.cfg", "--json"]],
    ids=" ".join,
)
def test_an_answer_cut_short_by_a_full_disk_is_exit_3(tmp_path, arguments):
    (tmp_path / "case.cfg").write_text(BASE)
    with open("/dev/full", "w") as full:
        result = program.heatsolve(tmp_path, *arguments, stdout=full)
    assert result.returncode == 3
    assert "standard output: cannot write: No space left on device" in result.stderr


# ---- run -----------------------------------------------------------------------------------------


def test_json_says_it_all(tmp_path):
    result = heatsolve(tmp_path, "run", "case.cfg", "--json")
    assert result.returncode == 0, result.stderr
    summary = json.loads(result.stdout)
    for key in ("sweeps", "seconds", "min", "max", "mean", "max_error", "output"):
        assert key in summary, f"{key} is not among {sorted(summary)}"
    with h5py.File(tmp_path / "out.h5") as f:
        assert summary["sweeps"] == f["sweep"][-1]
        assert summary["max"] == f["temperature"][-1].max()
    assert summary["output"] == "out.h5"
    # second order: (pi/4)^2 t e^-(..)t * (pi/4)^2 dx^2/12 is 2e-4, and the error of the step is similar
    assert 0.0 < summary["max_error"] < 5e-4


@pytest.mark.parametrize("unit", ["degC", "°C", "celsius"])
def test_a_difference_of_celsius_is_in_kelvin(tmp_path, unit):
    """A reader that converts degC to K would add 273.15."""
    text = f"""temperature_unit = "{unit}"; grid = {{ points = [9, 9]; spacing = 0.1; }}; material = {{ diffusivity = 1.0; }};
               initial = {{ value = 20.0; }}; boundary = {{ all = {{ type = "dirichlet"; value = 30.0; }}; }};
               steady = {{ tolerance = 1e-3; }}; output = {{ file = "out.h5"; }};"""
    said = [heatsolve(tmp_path, verb, "case.cfg", text=text) for verb in ("check", "run")]
    assert "tolerance of 0.001 K a sweep" in said[0].stdout and " K from the steady state; for 1 K give" in said[0].stdout
    assert "the tolerance of 0.001 K is met" in said[1].stdout and " K from the steady state" in said[1].stdout
    assert f"max 30 {unit}" in said[1].stdout
    within = text.replace("steady = { tolerance = 1e-3; }", 'time = { end = 1.0; tolerance = 0.1; method = "rkl2"; }')
    done = heatsolve(tmp_path, "check", "case.cfg", text=within)
    assert "its error in time is about 0.1 K at most" in done.stdout, done.stdout + done.stderr
    with h5py.File(tmp_path / "out.h5") as f:
        assert f["history/change"].attrs["units"] == "K" and f["history/max"].attrs["units"] == unit


MATERIAL = "material = { conductivity = 2.0; density = 3.0; specific_heat = 5.0; };"
DIFFUSIVE = 'temperature_unit = "degC"; material = { diffusivity = 1e-3; };'
RAW = "stencil = { c0 = 0.5; %s };"


@pytest.mark.parametrize(
    "dims, physics, unit, capacity",
    [
        (1, MATERIAL, " J/m^2", 15.0),
        (2, MATERIAL, " J/m", 15.0),
        (3, MATERIAL, " J", 15.0),
        (1, DIFFUSIVE, " K m", 1.0),
        (2, DIFFUSIVE, " K m^2", 1.0),
        (3, DIFFUSIVE, " K m^3", 1.0),
        (1, RAW % "c1 = 0.25; c2 = 0.25;", "", 1.0),
        (2, RAW % "c1 = 0.125; c2 = 0.125; c3 = 0.125; c4 = 0.125;", "", 1.0),
    ],
)
def test_heat_is_reported_in_its_unit(tmp_path, dims, physics, unit, capacity):
    """Four nodes an axis, periodic: each stands for spacing^dims, and the temperature stays at 7."""
    text = f"""grid = {{ points = {[4] * dims}; spacing = 0.5; }}; {physics}
               initial = {{ value = 7.0; }}; boundary = {{ all = {{ type = "periodic"; }}; }};
               time = {{ sweeps = 3; }}; output = {{ file = "out.h5"; }};"""
    result = heatsolve(tmp_path, "run", "case.cfg", text=text)
    assert result.returncode == 0, result.stderr
    line = re.search(r"^  heat +(\S+)(.*)$", result.stdout, re.M)
    assert line[2] == unit
    with h5py.File(tmp_path / "out.h5") as f:
        assert f["history/heat"].attrs["units"] == (unit.strip() or "1")
    # sums of equal numbers, printed with 9 digits
    assert abs(float(line[1]) / (7.0 * 2.0**dims * capacity) - 1.0) < 1e-8


@pytest.mark.parametrize("command", ["run", "check", "verify", "verify --kernel all", "tune"])
def test_quiet_says_nothing_but_what_is_wrong(tmp_path, monkeypatch, command):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    name, *more = [*command.split(), *(["--overwrite"] if command == "run" else [])]
    result = heatsolve(tmp_path, name, "case.cfg", "--quiet", *more)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert heatsolve(tmp_path, name, "case.cfg", *more).stdout != ""
    result = heatsolve(tmp_path, name, "case.cfg", "--quiet", "--set", "time.step=1e9", *more)
    assert (result.returncode, result.stdout) == (2, "") and "time.step" in result.stderr
    # if both are given, --json still prints
    assert json.loads(heatsolve(tmp_path, name, "case.cfg", "--quiet", "--json", *more).stdout)


def test_a_quiet_run_that_fails_its_check_says_why(tmp_path):
    result = heatsolve(tmp_path, "run", "case.cfg", "--quiet", "--set", "exact.max_error=1e-12")
    assert (result.returncode, result.stdout) == (1, "") and "exact.max_error" in result.stderr


def test_set_overrides_and_the_last_one_wins(tmp_path):
    settings = ["--set", "time.end=0.5", "--set", "output.interval=0.25", "--set", "time.end=0.75"]
    result = heatsolve(tmp_path, "run", "case.cfg", "--quiet", *settings)
    assert result.returncode == 0, result.stderr
    with h5py.File(tmp_path / "out.h5") as f:
        assert list(f["time"]) == [0.0, 0.25, 0.5, 0.75]


def test_a_face_takes_another_kind(tmp_path):
    """Values in the config that only the former kind uses are dropped; otherwise --set could not change a kind."""
    def means(*settings):
        result = heatsolve(tmp_path, "run", "case.cfg", "--quiet", "--overwrite", *(a for s in settings for a in ("--set", s)))
        assert result.returncode == 0, result.stderr
        with h5py.File(tmp_path / "out.h5") as f:
            return f["history/mean"][...], f.attrs["fingerprint"]

    walls = "boundary.all.type=reflective"
    insulated, fingerprint = means(walls, "exact.expression=0")
    assert insulated[-1] == pytest.approx(insulated[0], rel=1e-12)
    assert "boundary.all.value" not in fingerprint
    held, fingerprint = means("boundary.all.type=constant", "exact.expression=0")  # also has a value: the config's
    assert "boundary.all.value" in fingerprint and held[-1] < 0.7 * held[0]
    result = heatsolve(tmp_path, "check", "case.cfg", "--set", walls, "--set", "boundary.all.value=1")
    assert result.returncode == 2 and "--set: boundary.all.value = 1: a reflective boundary does not use it" in result.stderr


def test_output_goes_where_it_is_told(tmp_path):
    name = 'a "quoted" back\\slash.h5'
    result = heatsolve(tmp_path, "run", "case.cfg", "--quiet", "--output", name)
    assert result.returncode == 0, result.stderr
    assert name in files(tmp_path) and "out.h5" not in files(tmp_path)


@pytest.mark.parametrize("interval", ["0.1", "0.07", "0.3"])
@pytest.mark.parametrize("step", ['"auto"', "0.0031"])
def test_outputs_and_the_end_are_hit_to_the_bit(tmp_path, interval, step):
    text = BASE.replace("end = 1.0", f"end = 1.0; step = {step}").replace("interval = 0.1", f"interval = {interval}")
    result = heatsolve(tmp_path, "run", "case.cfg", "--quiet", text=text)
    assert result.returncode == 0, result.stderr
    multiples = [k * float(interval) for k in range(100) if k * float(interval) < 1.0 - 1e-9]
    with h5py.File(tmp_path / "out.h5") as f:
        assert list(f["time"]) == multiples + [1.0]


def test_an_error_above_its_bound_fails_with_both_numbers(tmp_path):
    text = BASE.replace("exact = {", "exact = { max_error = 1e-7;")
    result = heatsolve(tmp_path, "run", "case.cfg", "--json", text=text)
    assert result.returncode == 1
    error = json.loads(result.stdout)["max_error"]
    line = next(n for n, of in enumerate(text.splitlines(), 1) if "max_error" in of)
    assert f"case.cfg:{line}: exact.max_error = 1e-07: exceeded: the largest |T - exact| is {error:g} at the end" in result.stderr
    with h5py.File(tmp_path / "out.h5") as f:
        assert len(f["time"]) == 11  # the answer can be inspected


def test_the_worst_snapshot_is_beside_the_error_at_the_end(tmp_path):
    """A decay that is too slow by a tenth passes at the end, where nothing is left of either."""
    text = BASE.replace("^2*t", "^2*0.9*t").replace("exact = {", "exact = { max_error = 1e-3;").replace("end = 1.0", "end = 40.0")
    result = heatsolve(tmp_path, "run", "case.cfg", text=text)
    assert result.returncode == 0, result.stderr
    with h5py.File(tmp_path / "out.h5") as f:
        error = f["history/max_error"][:]
        worst = error.argmax()
        said = [
            f"  error        {error[-1]:.3g} at most, at the end, against the exact solution; the bound is 0.001: passed",
            f"               {error[worst]:.3g} at t = {f['history/time'][worst]:.9g} s, the worst of all snapshots",
        ]
    assert "\n".join(said) in result.stdout and error[worst] == pytest.approx(0.0387, abs=3e-3), result.stdout


def test_steady_state_is_reached_or_said_to_be_missed(tmp_path):
    text = BASE.replace("end = 1.0;", "").replace("interval = 0.1;", "").replace("exact", "steady = { tolerance = 1e-9; };\nexact")
    result = heatsolve(tmp_path, "run", "case.cfg", "--json", text=text)
    assert result.returncode == 0, result.stderr
    reached = json.loads(result.stdout)
    # the mode is multiplied by 1 - (pi/4)^2 dt a sweep, so its change is that share of itself
    share = (np.pi / 4) ** 2 * 0.0045
    assert reached["max"] == pytest.approx(1e-9 / share, rel=0.5)  # checked every 100 sweeps
    result = heatsolve(tmp_path, "run", "case.cfg", "--quiet", "--overwrite", "--set", "time.sweeps=1000", text=text)
    assert result.returncode == 1
    assert "steady.tolerance = 1e-09: not reached after 1000 sweeps" in result.stderr


# ---- divergence ----------------------------------------------------------------------------------


def test_not_a_number_stops_the_run_and_keeps_what_was_good(tmp_path):
    text = BASE.replace("value = 0.0", 'value = "sqrt(0.55-t)"')
    result = heatsolve(tmp_path, "run", "case.cfg", text=text)
    assert result.returncode == 1
    assert "diverged: the temperature is NaN at node (0), x = 0 m, at sweep " in result.stderr
    with h5py.File(tmp_path / "out.h5") as f:
        np.testing.assert_array_equal(f["time"], np.arange(6) * 0.1)
        assert np.isfinite(f["temperature"][:]).all()


@pytest.mark.parametrize("wall", ["sqrt(0.55-t)", "t < 0.35 ? 0 : exp(1e6*(t-0.35))"], ids=["nan", "infinite"])
def test_a_field_that_is_not_finite_has_no_figures(tmp_path, wall):
    text = BASE.replace("value = 0.0", f'value = "{wall}"')
    summary = heatsolve(tmp_path, "run", "case.cfg", text=text).stdout
    assert "diverged" in summary and not re.search(r"^  (temperature|heat) ", summary, re.MULTILINE)
    told = json.loads(heatsolve(tmp_path, "run", "case.cfg", "--json", "--overwrite", text=text).stdout)
    assert [told[key] for key in ("min", "mean", "max", "heat", "change", "flux/x_min")] == [None] * 6


@pytest.mark.parametrize("precision, setting, told", [
    ("double", "initial.value=-1e308", "initial.value = -1e308: is -1e+308 at node (1), x = 0.1 m, t = 0 s; it must be a finite number everywhere, at most 1e300"),
    ("float", "initial.value=1e-46", "initial.value = 1e-46: float cannot hold a number so small; give 0, or choose other units"),
    ("float", 'initial.regions=({shape="box"; lower=0; upper=1; value=-1e-40;})', "initial.regions[0].value = -1e-40: float cannot hold"),
    ("double", 'boundary.all={type="dirichlet"; value=-1e308;}', "boundary.all.value = -1e308: is -1e+308 at node (0), x = 0 m, t = 0 s; it must be a finite number everywhere, at most 1e300"),
    ("double", "initial.value=1e300", None),
    ("double", "initial.value=1e-46", None),
    ("float", 'initial.value="exp(-50*x)"', None),  # a tail that underflows
    ("double", 'initial.value="1e-46*exp(-x)"', None),
    ("float", 'initial.value="1e-46*exp(-x)"', 'initial.value = "1e-46*exp(-x)": is 9.04837e-47 at node (1), x = 0.1 m, and nowhere larger; float cannot hold a number so small'),
    ("float", 'initial={file="tiny.npy";}', 'initial.file = "tiny.npy": is 1e-46 at node (1), x = 0.1 m, and nowhere larger; float cannot hold a number so small'),
    ("double", 'initial={file="tiny.npy";}', None),
])
@pytest.mark.parametrize("command", ["check", "run"])
def test_an_initial_field_is_one_that_its_precision_holds(tmp_path, command, precision, setting, told):
    text = BASE.replace('expression = "sin(pi*x/4)"', "value = 1.0", 1)
    np.save(tmp_path / "tiny.npy", np.full(41, 1e-46))
    result = heatsolve(tmp_path, command, "case.cfg", "--set", f'precision="{precision}"', "--set", setting, text=text)
    assert result.returncode == (2 if told else 0), result.stderr
    assert not told or told in result.stderr


@pytest.mark.parametrize("precision, source, told", [
    ("float", "value=1e-45;", 'source.value = 1e-45: adds at most 1e-48 K in a step of 0.001 s, and float cannot hold a number so small; give 0, or choose other units, or precision = "double"'),
    ("float", 'expression="-1e-45*exp(-x)";', 'source.expression = "-1e-45*exp(-x)": adds at most '),
    ("float", 'file="tiny.npy";', 'source.file = "tiny.npy": adds at most 1e-49 K'),
    ("double", "value=1e-45;", None),
    ("float", "value=0.0;", None),
    ("float", 'expression="exp(-50*x)";', None),  # a tail that underflows
    ("float", 'expression="1e-45*t";', None),  # not evaluated
])  # fmt: skip
@pytest.mark.parametrize("command", ["check", "run"])
def test_a_source_is_one_that_its_precision_holds(tmp_path, command, precision, source, told):
    np.save(tmp_path / "tiny.npy", np.full(41, 1e-46))
    setting = ("--set", f'precision="{precision}"', "--set", "time.step=1e-3", "--set", "source={" + source + "}")
    result = heatsolve(tmp_path, command, "case.cfg", *setting, text=BASE)
    assert result.returncode == (2 if told else 0), result.stderr
    assert not told or told in result.stderr, result.stderr


def test_blow_up_is_noticed(tmp_path):
    text = BASE.replace("value = 0.0", 'value = "t < 0.35 ? 0 : exp(1e4*(t-0.35))"')
    result = heatsolve(tmp_path, "run", "case.cfg", text=text)
    assert result.returncode == 1
    assert "diverged" in result.stderr and "boundary.all.value" in result.stderr
    with h5py.File(tmp_path / "out.h5") as f:
        assert list(f["time"]) == [0.0, 0.1, 0.2, 0.1 * 3, 0.4]  # as asked: exp(500) at 0.4
        assert np.isfinite(f["temperature"][:]).all()


TOO_MUCH = r"(?:inf|\S+e\+30\d, more than a field in double holds,)"  # at the times that are evaluated


@pytest.mark.parametrize("precision, source, wall, named", [
    ("double", "exp(2e3*t)", "0", rf'case.cfg:9: source.expression = "exp\(2e3\*t\)" is {TOO_MUCH} at node \(\d+\), x = [\d.]+ m'),
    ("double", "x > 3.9 && x < 3.95 && t > 0.5 ? 1/0 : x", "0", r"source.expression = .* is inf at node"),
    ("float", "t > 0.5 ? 1e39 : 1", "0", r"is 1e\+39, more than a field in float holds, at node"),
    ("float", "t > 0.5 ? 1e35 : 1", "0", None),  # 4.5e32 a sweep: large, but float holds it
    ("double", "0", "sqrt(0.55-t)", r'case.cfg:10: boundary.x_max.value = "sqrt\(0.55-t\)" is NaN at node \(100\), x = 4 m'),
    ("double", "0", "t > 0.5 ? -1e308 : 0", r"boundary.x_max.value = .* is -1e\+308, more than a field in double holds, at node \(100\)"),
    ("double", "0", "1e200^(10*t)", rf'case.cfg:10: boundary.x_max.value = "1e200\^\(10\*t\)" is {TOO_MUCH} at node \(100\)'),
])
def test_a_value_that_no_field_can_hold_is_named(tmp_path, precision, source, wall, named):
    text = f"""precision = "{precision}";
title = "overflow";
grid = {{ points = [101]; upper = [4.0]; }};
material = {{ diffusivity = 0.1; }};
initial = {{
  value = 1.0; }};
time = {{ end = 1.0;
  step = 0.0045; }};
source = {{ expression = "{source}"; }};
boundary = {{ x_max = {{ type = "dirichlet"; value = "{wall}"; }}; }};
output = {{ file = "out.h5"; }};
"""
    result = heatsolve(tmp_path, "run", "case.cfg", "--quiet", text=text)
    if named is None:
        assert "no field" not in result.stderr and "more than" not in result.stderr
        return
    assert result.returncode == 1
    found = re.search(named + r".*, t = ([\d.]+) s; snapshots before it are kept", result.stderr)
    assert found, result.stderr
    sweep, when = re.search(r"at sweep (\d+), t = ([\d.]+) s \(", result.stderr).groups()
    assert float(found[1]) <= float(when)


@pytest.mark.parametrize("setting, place", [
    ('initial.expression="1e39*x"', 'initial.expression = "1e39*x": is 4e+38 at node (4), x = 0.4 m'),  # x = 0.34 m has 3.4e38
    ('boundary.x_max={type="dirichlet"; value=1e39;}', "boundary.x_max.value = 1e39: is 1e+39 at node (40)"),
])
@pytest.mark.parametrize("command", ["check", "run"])
def test_what_a_float_cannot_hold_is_named_at_the_start(tmp_path, command, setting, place):
    text = BASE.replace("sin(pi*x/4)", "0", 1)
    result = heatsolve(tmp_path, command, "case.cfg", "--set", 'precision="float"', "--set", setting, text=text)
    assert result.returncode == 2
    assert place in result.stderr and "in float at most 3.4e38" in result.stderr
    assert result.stderr.startswith(("heatsolve: case.cfg:5: ", "heatsolve: --set: "))


@pytest.mark.parametrize("in_time", ["", "-((t-0.4)/0.02)^2"])
def test_a_narrow_source_is_no_divergence(tmp_path, in_time):
    """A spot between the nodes of any coarse lattice, for a while, is the only source: what it heats is normal."""
    text = f"""grid = {{ points = [201, 201]; upper = [1.0, 1.0]; }};
material = {{ diffusivity = 1e-4; }};
initial = {{ value = 0.0; }};
source = {{ expression = "10*exp(-((x-0.44)^2+(y-0.44)^2)/1e-5{in_time})"; }};
boundary = {{ all = {{ type = "reflective"; }}; }};
time = {{ end = 1.0; step = 0.0025; }};
output = {{ file = "out.h5"; }};
"""
    result = heatsolve(tmp_path, "run", "case.cfg", "--json", "--quiet", text=text)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["max"] > 0.01


def test_an_initial_field_that_is_not_finite_is_bad_input(tmp_path):
    text = BASE.replace("sin(pi*x/4)", "log(x-1)", 1)
    result = heatsolve(tmp_path, "run", "case.cfg", text=text)
    assert result.returncode == 2
    assert "initial" in result.stderr
    assert not list(tmp_path.glob("*.h5"))


# ---- signals -------------------------------------------------------------------------------------

FACES_THAT_MOVE = """
grid = { points = [120, 100]; spacing = 0.1; };
material = { conductivity = 2.0; density = 1.0; specific_heat = 2.0; };
initial = { expression = "sin(x)*cos(3*y)"; };
boundary = { all = { type = "robin"; h = 3.0; ambient = "sin(50*t)"; };
             x_min = { type = "dirichlet"; value = "cos(20*t)+y"; }; };
time = { sweeps = 10000000; };
output = { file = "out.h5"; every = 10000; };
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_saves_the_state_and_resume_ends_in_the_same_bits(tmp_path, number):
    """It would take a minute, so that the signal comes in time; both runs end some sweeps after the signal."""
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    whole.mkdir(), cut.mkdir()
    (cut / "case.cfg").write_text(FACES_THAT_MOVE)
    run = program.start(cut, "run", "case.cfg", "--quiet", text=True)
    program.wait_for(cut / "out.h5", run)
    time.sleep(0.1)
    run.send_signal(number)
    _, stderr = run.communicate(timeout=60)
    assert run.returncode == 130, stderr
    sweep = int(re.search(r"interrupted at sweep (\d+)", stderr)[1])
    assert "--resume" in stderr

    end = ["--set", f"time.sweeps={sweep + 20001}"]
    result = heatsolve(cut, "run", "case.cfg", "--quiet", "--resume", *end, text=None)
    assert result.returncode == 0, result.stderr
    result = heatsolve(whole, "run", "case.cfg", "--quiet", *end, text=FACES_THAT_MOVE)
    assert result.returncode == 0, result.stderr
    with h5py.File(whole / "out.h5") as a, h5py.File(cut / "out.h5") as b:
        for name in ("time", "sweep", "temperature"):
            np.testing.assert_array_equal(a[name][:], b[name][:], err_msg=name)


def test_resume_without_a_checkpoint_says_so(tmp_path):
    result = heatsolve(tmp_path, "run", "case.cfg", "--resume")
    assert result.returncode in (2, 3)
    assert "checkpoint" in result.stderr
    assert files(tmp_path) == []


def test_the_summary_tells_both_steps(tmp_path):
    summary = heatsolve(tmp_path, "run", "case.cfg", "--set", "output.interval=0.3").stdout
    assert "1 s after 201 sweeps of 0.00447761 s and 23 of 0.00434783 s" in summary, summary
    summary = heatsolve(tmp_path, "run", "case.cfg", "--overwrite").stdout
    assert "1 s after 230 sweeps of 0.00434783 s\n" in summary


def test_an_override_puts_aside_the_other_way_to_say_it(tmp_path):
    three = BASE.replace("diffusivity = 1.0", "conductivity = 2.0; density = 4.0; specific_heat = 1.0")
    told = json.loads(heatsolve(tmp_path, "check", "case.cfg", "--json", "--set", "material.diffusivity=2", text=three).stdout)
    assert told["stability_limit"] == pytest.approx(0.1**2 / 2 / 2)
    text = three.replace("value = 0.0; };", 'value = 0.0; }; x_min = { type = "neumann"; flux = 4.0; };')
    arguments = ["run", "case.cfg", "--quiet", "--output"]
    assert heatsolve(tmp_path, *arguments, "flux.h5", text=text).returncode == 0
    # dT/dn = -flux/k
    result = heatsolve(tmp_path, *arguments, "gradient.h5", "--set", "boundary.x_min.gradient=-2", text=text)
    assert result.returncode == 0, result.stderr
    with h5py.File(tmp_path / "flux.h5") as a, h5py.File(tmp_path / "gradient.h5") as b:
        assert np.allclose(a["temperature"][-1], b["temperature"][-1], rtol=1e-14)
    both = ["--set", "boundary.x_min.gradient=-2", "--set", "boundary.x_min.flux=4"]
    assert "not both" in heatsolve(tmp_path, *arguments, "both.h5", *both, text=text).stderr


def test_an_override_puts_aside_a_materials_table(tmp_path):
    (tmp_path / "load.csv").write_text("0,1\n1,2\n")
    given = 'specific_heat = 1.0; source_table = "load.csv"; perfusion = { rate = 1.0; reference_table = "load.csv"; }; } ); body = ( { material = "a"; } );'
    text = BASE.replace("material = { diffusivity = 1.0; };", 'materials = ( { name = "a"; conductivity = 2.0; density = 4.0; ' + given)
    assert given in text
    changes = ["--set", "materials[0].source=5", "--set", "materials[0].perfusion.reference=0"]
    result = heatsolve(tmp_path, "check", "case.cfg", "--json", *changes, text=text)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["source_power"] == pytest.approx(5 * 4.0, rel=1e-12)  # the rod's length
    back = text.replace('source_table = "load.csv"', "source = 5.0")
    result = heatsolve(tmp_path, "check", "case.cfg", "--json", "--set", 'materials[0].source_table="load.csv"', text=back)
    assert result.returncode == 0, result.stderr


# ---- check ---------------------------------------------------------------------------------------


def test_check_foretells_the_run(tmp_path):
    result = heatsolve(tmp_path, "check", "case.cfg", "--json")
    assert result.returncode == 0, result.stderr
    assert files(tmp_path) == []
    told = json.loads(result.stdout)
    result = heatsolve(tmp_path, "run", "case.cfg", "--json")
    summary = json.loads(result.stdout)
    assert told["sweeps"] == summary["sweeps"]
    assert told["snapshots"] == 11
    assert told["points"] == [41] and told["nodes"] == 41
    assert told["step"] == pytest.approx(0.1 / 23, rel=1e-15)  # parts of 0.1 s, at most 0.0045 s
    assert told["memory_bytes"] >= 2 * 41 * 8
    assert told["seconds"] > 0 and told["points_per_second"] > 0


def test_check_does_not_guess_the_order_of_raw_coefficients(tmp_path):
    grid = 'grid = { points = [9]; };\ninitial = { value = 1.0; };\ntime = { sweeps = 1; };\n'
    (tmp_path / "raw.cfg").write_text(grid + "stencil = { c0 = 0.5; c1 = 0.2; c2 = 0.3; };\n")
    (tmp_path / "own.cfg").write_text(grid + "material = { diffusivity = 1.0; };\n")
    assert "stencil      radius 1, 3 points; raw coefficients\n" in program.must(tmp_path, "check", "raw.cfg")
    assert "stencil      radius 1, 3 points, order 2; diffusivity 1 m^2/s\n" in program.must(tmp_path, "check", "own.cfg")


def test_check_counts_the_looks_for_the_history(tmp_path):
    often = ["--set", "output.history_every=1", "--set", "grid.points=[20001]", "--set", "grid.spacing=0.1"]
    seldom = often[2:] + ["--set", "output.history_every=1000000"]
    # each is measured; the smallest of several is the one least disturbed by other work on the machine
    told, less = (
        min((json.loads(heatsolve(tmp_path, "check", "case.cfg", "--json", *how).stdout) for _ in range(4)),
            key=lambda told: told["reduction_seconds"])
        for how in (often, seldom)
    )
    summary = json.loads(heatsolve(tmp_path, "run", "case.cfg", "--json", *often).stdout)
    assert summary["reduction_seconds"] > 0
    # a check of the field after each sweep, against one at each snapshot
    assert told["sweeps"] > 20 * told["snapshots"] and told["reduction_seconds"] > 3 * less["reduction_seconds"] > 0
    assert "spent checking the field" in heatsolve(tmp_path, "check", "case.cfg", *often).stdout


def test_check_foretells_the_size(tmp_path):
    larger = ["--set", "grid.points=[150,150]", "--set", "time.end=0.2", "--set", "output.interval=0.02"]
    told = json.loads(heatsolve(tmp_path, "check", "case.cfg", "--json", *larger).stdout)
    result = heatsolve(tmp_path, "run", "case.cfg", "--quiet", *larger)
    assert result.returncode == 0, result.stderr
    size = (tmp_path / "out.h5").stat().st_size
    assert told["output_bytes"] >= 11 * 150 * 150 * 8
    assert size == pytest.approx(told["output_bytes"], rel=0.1)  # names and attributes are the rest


BODY = """\
grid = { points = [24, 24, 24]; upper = [1.0, 1.0, 1.0]; };
materials = ( %s );
body = %s;
initial = { value = 300; };
boundary = { all = { type = "reflective"; }; };
time = { sweeps = 4; };
output = { file = "out.h5"; };
"""


@pytest.mark.parametrize("shapes, materials, compression", [(2, 2, 0), (300, 60, 0), (300, 60, 1), (0, 300, 1)])
def test_check_counts_what_the_file_says_of_a_body(tmp_path, shapes, materials, compression):
    """Its materials, shapes and labels, and their text, can be larger than its fields."""
    draw = np.random.default_rng(5)
    names = [f"m{n}" for n in range(materials)]
    balls = [
        '{ material = "%s"; shape = "sphere"; centre = [%f, %f, %f]; radius = 0.1; }' % (names[1 + n % (materials - 1)], *draw.random(3))
        for n in range(1, shapes)
    ]
    body = "( %s )" % ", ".join(['{ material = "m0"; }', *balls])
    if not shapes:
        np.save(tmp_path / "labels.npy", draw.integers(0, materials, (24, 24, 24)).astype(np.uint16))
        body = '( { file = "labels.npy"; names = [%s]; } )' % ", ".join(f'"{name}"' for name in names)
    of_each = '{ name = "%s"; conductivity = 2.0; density = 1e3; specific_heat = 1e3; }'
    text = BODY % (", ".join(of_each % name for name in names), body)
    how = ["--set", f"output.compression={compression}"]
    told = json.loads(heatsolve(tmp_path, "check", "case.cfg", "--json", *how, text=text).stdout)["output_bytes"]
    result = heatsolve(tmp_path, "run", "case.cfg", "--quiet", *how, text=text)
    assert result.returncode == 0, result.stderr
    size = (tmp_path / "out.h5").stat().st_size
    # compressed at most what was told, and for noisy labels more than half of it; else to 0.15, as measured for names
    assert told / 2 <= size <= told if compression else size == pytest.approx(told, rel=0.15)


LONG = BASE.replace("end = 1.0", "sweeps = 100000").replace(" interval = 0.1;", "")


@pytest.mark.parametrize("what", ["history_every", "every"])
def test_check_counts_what_is_beside_the_fields(tmp_path, what):
    """Rows of the history, or the index of many small snapshots."""
    long = ["--set", "time.sweeps=20000", "--set", f"output.{what}=1"]
    told = json.loads(heatsolve(tmp_path, "check", "case.cfg", "--json", *long, text=LONG).stdout)
    result = heatsolve(tmp_path, "run", "case.cfg", "--quiet", *long, text=LONG)
    assert result.returncode == 0, result.stderr
    size = (tmp_path / "out.h5").stat().st_size
    with h5py.File(tmp_path / "out.h5") as f:
        seconds = f.attrs["wall_seconds"]
    # the table of contents is rewritten at times, every few seconds at most, and a busy machine takes longer than told
    assert told["output_bytes"] / 2 <= size <= 3 * told["output_bytes"] * (1 + seconds / 3)


def test_check_says_when_a_step_is_shortened(tmp_path):
    result = heatsolve(tmp_path, "check", "case.cfg", "--set", "time.step=0.003")
    assert result.returncode == 0, result.stderr
    assert "step 0.003 s shortened to 0.00294117647 s" in result.stdout
    times = ["--set", "time.step=0.003", "--set", "time.end=0.1", "--set", "output={interval=0.03;}"]
    result = heatsolve(tmp_path, "check", "case.cfg", *times)  # the rest, 0.01 s, has steps of its own
    assert "step 0.003 s shortened to 0.0025 s, so that time.end = 0.1 is hit exactly" in result.stdout
    assert "longest stable step 0.005 s" in result.stdout


def test_check_refuses_what_does_not_fit_in_memory(tmp_path):
    result = heatsolve(tmp_path, "check", "case.cfg", "--set", "grid.points=[2000000,1000000]")
    assert result.returncode == 4
    assert "grid.points" in result.stderr and "GiB" in result.stderr


def test_check_looks_at_the_output_that_is_named(tmp_path):
    (tmp_path / "other.h5").write_text("of somebody else")
    result = heatsolve(tmp_path, "check", "case.cfg", "--output", "other.h5")
    assert result.returncode == 0, result.stderr
    assert re.search(r"^refused +other.h5: ", result.stdout, re.M), result.stdout


# ---- verify --------------------------------------------------------------------------------------


def test_verify_finds_the_same_bits_and_second_order(tmp_path):
    result = heatsolve(tmp_path, "verify", "case.cfg", "--json")
    assert result.returncode == 0, result.stderr
    assert files(tmp_path) == []
    found = json.loads(result.stdout)
    assert found["comparison"]["differing"] == 0 and found["comparison"]["max_ulps"] == 0
    assert found["comparison"]["sweeps"] == found["comparison"]["sweeps_of_run"] == 230
    for order in found["refinement"]["order_max"] + found["refinement"]["order_l2"]:
        assert 1.95 < order < 2.05  # the next term is smaller by a factor of h^2, less than 1/400


def test_verify_names_its_columns(tmp_path):
    told = heatsolve(tmp_path, "verify", "case.cfg").stdout
    columns = re.search(r"^  points .*$", told, re.M).group(0)
    assert columns.split("  ")[-1].strip() == "order (l2)" and "order (max)" in columns


def test_verify_bounds_float(tmp_path):
    result = heatsolve(tmp_path, "verify", "case.cfg", "--json", "--sweeps", "100", "--set", 'precision="float"')
    assert result.returncode == 0, result.stderr
    comparison = json.loads(result.stdout)["comparison"]
    assert comparison["sweeps"] == 100
    assert 0 < comparison["max_abs"] <= comparison["bound"]
    # 100 sweeps; the roundings of 3 terms, the coefficients and the reference, half an ulp of a field of 1 each
    assert comparison["bound"] == pytest.approx(100 * 5 * 2**-24, rel=1e-6)


def test_verify_says_how_terms_are_added(tmp_path):
    result = heatsolve(tmp_path, "verify", "case.cfg", "--sweeps", "10")
    assert "fused multiply-adds as written" in result.stdout and "contraction by the compiler is off" in result.stdout


@pytest.mark.parametrize("precision", ["double", "float"])
def test_verify_takes_every_kernel(tmp_path, precision):
    every = ["verify", "case.cfg", "--kernel", "all", "--sweeps", "10", "--set", f"precision={precision}", "--set", "solver.backend=cpu"]
    result = heatsolve(tmp_path, *every)
    assert result.returncode == 0, result.stderr
    rows = {line.split()[0]: line for line in result.stdout.splitlines()[2:]}
    assert set(rows) == {"openmp", "wavefront"} and all(row.endswith(" passed") for row in rows.values())
    found = json.loads(heatsolve(tmp_path, *every, "--json").stdout)["comparisons"]
    assert {c["kernel"] for c in found} == set(rows)
    assert all((c["differing"] == 0) == (precision == "double") and c["contraction"] == "off" for c in found)


def test_verify_says_which_kernel_there_is_not(tmp_path):
    result = heatsolve(tmp_path, "verify", "case.cfg", "--kernel", "openmq")
    assert result.returncode == 2
    assert "openmp" in result.stderr


def test_verify_says_why_there_is_no_refinement(tmp_path):
    text = "\n".join(line for line in BASE.splitlines() if not line.startswith("exact"))
    result = heatsolve(tmp_path, "verify", "case.cfg", text=text)
    assert result.returncode == 0, result.stderr
    assert "no grid refinement: the config has no exact solution" in result.stdout


def test_verify_holds_the_configs_grid_to_its_own_bound(tmp_path):
    wrong = heatsolve(tmp_path, "verify", "case.cfg", "--quiet", "--set", "exact.max_error=1e-9")
    assert wrong.returncode == 1 and "--set: exact.max_error = 1e-09: exceeded: the largest |T - exact| is " in wrong.stderr, wrong.stderr
    assert heatsolve(tmp_path, "verify", "case.cfg", "--quiet", "--set", "exact.max_error=1").returncode == 0


RAW_WAVE = """
grid = { points = [21]; upper = [1.0]; };
stencil = { c0 = 0.5; c1 = 0.25; c2 = 0.25; };
initial = { expression = "sin(pi*x)"; };
boundary = { all = { type = "dirichlet"; value = 0.0; }; };
time = { sweeps = 100; };
exact = { expression = "sin(pi*x)*(0.5+0.5*cos(pi/20))^t"; max_error = 1e-9; };
output = { file = "out.h5"; };
"""


def test_verify_holds_a_case_without_other_grids_to_its_bound(tmp_path):
    """Also where only one grid can be computed: raw coefficients, numbers from files, many nodes."""
    right = heatsolve(tmp_path, "verify", "case.cfg", text=RAW_WAVE)
    assert right.returncode == 0 and "on this grid at the end, against the exact solution" in right.stdout, right.stdout
    wrong = heatsolve(tmp_path, "verify", "case.cfg", "--json", text=RAW_WAVE.replace('"sin(pi*x)*(', '"2*sin(pi*x)*('))
    assert wrong.returncode == 1 and "exact.max_error = 1e-09: exceeded: the largest |T - exact| is 0.539" in wrong.stderr
    found = json.loads(wrong.stdout)
    assert found["refinement"] is None and found["max_error"] == pytest.approx((0.5 + 0.5 * np.cos(np.pi / 20)) ** 100, rel=1e-12)
    many = RAW_WAVE.replace("sweeps = 100;", "sweeps = 100000000;")
    long = heatsolve(tmp_path, "verify", "case.cfg", "--sweeps", "10", "--power", "10", text=many)
    assert long.returncode == 0 and "no error on this grid: that takes long" in long.stdout, long.stderr


def test_verify_says_that_an_error_does_not_fall(tmp_path):
    """Orders of 0.04 and 0.01 for a decay that is a tenth too slow had no word beside them."""
    for text, said in (BASE, False), (BASE.replace("^2*t", "^2*0.9*t"), True):
        told = heatsolve(tmp_path, "verify", "case.cfg", text=text)
        assert told.returncode == 0, told.stderr
        assert ("  the error does not fall: exact.expression is probably not the solution of this case" in told.stdout) == said


def test_verify_says_where_a_steady_state_is_too_far(tmp_path):
    """At a loose tolerance the orders were -2.26 and -0.07, and at an early end 0, without a word."""
    slab = BASE.replace("exp(-(pi/4)^2*t)*sin", "sin").replace('"sin(pi*x/4)"; };\nbound', '"0"; };\nbound')
    slab = slab.replace("time =", 'source = { expression = "(pi/4)^2*sin(pi*x/4)"; };\ntime =')
    for steady, end, said in (
        ("1e-4", "", "up to about 0.0"),
        ("1e-9", "end = 1.0;", "up to about 0."),
        ("1e-9", "", None),
    ):
        text = slab.replace("end = 1.0; };", f"{end} }};\nsteady = {{ tolerance = {steady}; }};").replace(" interval = 0.1;", "")
        told = heatsolve(tmp_path, "verify", "case.cfg", text=text)
        assert told.returncode == 0, told.stderr
        assert ("the orders are not those of the grid" in told.stdout) == bool(said), told.stdout
        assert not said or f"  fields are {said}" in told.stdout, told.stdout


def test_verify_says_that_it_does_not_look_at_the_method(tmp_path):
    other = ["--set", 'time.method="implicit"', "--set", "time.step=0.1"]
    assert 'time.method = "implicit" is not checked' in heatsolve(tmp_path, "verify", "case.cfg", *other).stdout
    assert json.loads(heatsolve(tmp_path, "verify", "case.cfg", "--json", *other).stdout)["method_not_looked_at"] == "implicit"
    assert "is not checked" not in heatsolve(tmp_path, "verify", "case.cfg").stdout
    steady = ["--set", 'steady={tolerance=1e-6;method="multigrid";}', "--set", "time={}"]
    assert 'steady.method = "multigrid" is not checked' in heatsolve(tmp_path, "verify", "case.cfg", *steady).stdout
    assert json.loads(heatsolve(tmp_path, "verify", "case.cfg", "--json", *steady).stdout)["method_not_looked_at"] == "multigrid"


def test_verify_counts_the_start_of_a_sweep(tmp_path):
    many = ["--set", "time={sweeps=1000000;}"]
    comparison = json.loads(heatsolve(tmp_path, "verify", "case.cfg", "--json", *many).stdout)["comparison"]
    assert comparison["sweeps"] < 100000  # a million, even of few points, would take a minute
