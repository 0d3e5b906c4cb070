"""heatsolve tune, and how run, check, verify and kernels use its findings."""

import json
import os
import re
import signal
import subprocess
import time

import h5py
import program
import pytest

CASE = """
title = "a plate";
grid = { points = [24, 18]; spacing = 0.1; };
material = { diffusivity = 1.0; };
initial = { value = 300.0; };
boundary = { all = { type = "dirichlet"; value = 280.0; }; };
time = { sweeps = 40; };
solver = { backend = "cpu"; };
output = { file = "out.h5"; every = 20; overwrite = true; };
"""


@pytest.fixture
def place(tmp_path):
    """A directory with the case in it, and a cache of its own."""
    (tmp_path / "case.cfg").write_text(CASE)
    return tmp_path


def heatsolve(place, *arguments, **environment):
    environment = {**os.environ, "XDG_CACHE_HOME": str(place / "cache"), **environment}
    environment = {name: value for name, value in environment.items() if value is not None}
    return program.heatsolve(place, *arguments, env=environment, timeout=100)


def said(place, *arguments, **environment):
    result = heatsolve(place, *arguments, "--json", **environment)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def kept(place):
    (file,) = (place / "cache" / "heatsolve").iterdir()
    return file


# ---- finding and using ---------------------------------------------------------------------------


def test_what_was_tuned_is_used_and_said(place):
    before = said(place, "check", "case.cfg")
    assert before["kernel_choice"] == "heuristic" and before["note"] == ""
    found = said(place, "tune", "case.cfg")
    assert not found["tuned_before"] and found["file"] == str(kept(place))
    assert found["kernel"] == found["kernels"][0]["kernel"]
    assert all(row["seconds_per_sweep"] > 0 and row["gcells"] > 0 for row in found["kernels"])
    assert "reference" not in [row["kernel"] for row in found["kernels"]]
    assert not (place / "out.h5").exists()  # nothing was run
    for command in ("check", "run"):
        after = said(place, command, "case.cfg")
        assert after["kernel_choice"] == "tuned" and after["kernel"] == found["kernel"] and after["note"] == ""
    with h5py.File(place / "out.h5") as f:
        assert f.attrs["kernel_choice"] == "tuned" and f.attrs["kernel"] == found["kernel"]
    assert ", tuned) on " in heatsolve(place, "check", "case.cfg").stdout
    assert "), tuned\n" in heatsolve(place, "run", "case.cfg").stdout
    assert said(place, "kernels", "case.cfg")["kernel_choice"] == "tuned"
    assert "auto takes it, as tuned" in heatsolve(place, "kernels", "case.cfg").stdout
    assert heatsolve(place, "verify", "case.cfg").returncode == 0


def test_the_kernel_of_the_file_is_the_one_that_runs(place):
    """The last of the findings is put first: no measurement would choose it, so the choice comes from the file."""
    found = said(place, "tune", "case.cfg")
    last = found["kernels"][-1]["kernel"]
    lines = kept(place).read_text().splitlines()
    first = next(n for n, line in enumerate(lines) if line.startswith("kernel "))
    lines.insert(first, f"kernel {last} 1e-9 9")
    kept(place).write_text("\n".join(lines) + "\n")
    for command in ("check", "run"):
        assert said(place, command, "case.cfg")["kernel"] == last
    assert said(place, "tune", "case.cfg")["kernel"] == last


def test_a_second_tune_reads_and_retune_times_again(place):
    first = said(place, "tune", "case.cfg")
    text = kept(place).read_text()
    again = said(place, "tune", "case.cfg")
    assert again["tuned_before"] and again["kernels"][0]["samples"] == first["kernels"][0]["samples"]
    assert kept(place).read_text() == text
    assert "tuned earlier" in heatsolve(place, "tune", "case.cfg").stdout
    kept(place).write_text(text.replace("\nseconds ", "\nseconds 77777"))
    assert said(place, "tune", "case.cfg")["seconds"] > 7e4
    anew = said(place, "tune", "case.cfg", "--retune")
    assert not anew["tuned_before"] and anew["seconds"] < 1000
    assert "77777" not in kept(place).read_text()


def test_a_run_that_retunes_times_again_and_goes_with_it(place):
    """The stored entry is given another kernel and impossible figures; afterwards neither is left."""
    found = said(place, "tune", "case.cfg")
    last = found["kernels"][-1]["kernel"]
    before = kept(place).read_text().replace("\nseconds ", "\nseconds 77777").replace("\nkernel ", f"\nkernel {last} 1.25e-11 9\nkernel ", 1)
    kept(place).write_text(before)
    assert said(place, "run", "case.cfg")["kernel"] == last and kept(place).read_text() == before
    anew = said(place, "run", "case.cfg", "--retune")
    assert anew["kernel_choice"] == "tuned" and "tuned anew in " in anew["note"]
    text = kept(place).read_text()
    assert "77777" not in text and " 1.25e-11 9" not in text
    assert anew["kernel"] == said(place, "tune", "case.cfg")["kernel"] == text.split("\nkernel ")[1].split()[0]
    with h5py.File(place / "out.h5") as f:
        assert f.attrs["kernel"] == anew["kernel"] and f.attrs["kernel_choice"] == "tuned" and len(f["time"]) == 3
    assert said(place, "run", "case.cfg")["note"] == ""  # from now on the new one is taken


def test_a_run_retunes_where_nothing_was_kept_and_goes_on_from_a_file(place):
    assert said(place, "run", "case.cfg", "--retune")["sweeps"] == 40
    kept(place).unlink()
    more = said(place, "run", "case.cfg", "--retune", "--resume", "--set", "time.sweeps=60")
    assert more["sweeps"] == 60 and more["swept"] == 20 and kept(place).exists()


def test_a_run_that_cannot_keep_what_it_tuned_says_so_and_goes_with_it(place):
    (place / "file").write_text("")
    answer = said(place, "run", "case.cfg", "--retune", XDG_CACHE_HOME=str(place / "file"))
    assert answer["kernel_choice"] == "tuned" and "not kept: " in answer["note"] and "Not a directory" in answer["note"]


@pytest.mark.parametrize("where", ["config", "--set"])
def test_a_run_has_nothing_to_retune_where_the_kernel_is_named(place, where):
    (place / "case.cfg").write_text(CASE.replace('"cpu"; }', '"cpu"; kernel = "openmp"; }') if where == "config" else CASE)
    named = ["--set", 'solver.kernel="openmp"'] if where == "--set" else []
    result = heatsolve(place, "run", "case.cfg", "--retune", *named)
    said_at = "--set" if named else "case.cfg:8"
    assert result.returncode == 2 and result.stdout == ""
    assert f'{said_at}: solver.kernel = "openmp": --retune has nothing to choose from; make it "auto"' in result.stderr
    assert not (place / "out.h5").exists() and not (place / "cache").exists()


def test_what_cannot_be_resumed_is_said_before_anything_is_timed(place):
    result = heatsolve(place, "run", "case.cfg", "--retune", "--resume")
    assert result.returncode != 0 and not (place / "cache").exists()


def test_it_holds_for_its_case_only(place):
    said(place, "tune", "case.cfg")
    for same in ("initial.value=310.0", "boundary.all.value=281.0", 'title="other"', "time.safety=0.5"):
        assert said(place, "check", "case.cfg", "--set", same)["kernel_choice"] == "tuned", same
    others = (
        "grid.points=[24, 19]",
        'precision="float"',
        "stencil.radius=2",
        'boundary.x_min.type="periodic"',
        'boundary.x_max.value="280+t"',
        "source.value=1.0",
        "output.every=2",
    )
    for other in others:
        more = ["--set", 'boundary.x_max.type="periodic"'] if "periodic" in other else []
        assert said(place, "check", "case.cfg", "--set", other, *more)["kernel_choice"] == "heuristic", other


@pytest.mark.parametrize("command", [["tune"], ["tune", "--retune"], ["run", "--retune"]], ids=" ".join)
@pytest.mark.parametrize("method", ["spectral", "exponential", "implicit", "rkl2", "multigrid"])
def test_a_case_that_does_not_sweep_is_not_tuned(place, method, command):
    said(place, "tune", "case.cfg")
    key = "steady" if method == "multigrid" else "time"
    more = {"multigrid": ["--set", "steady.tolerance=1e-6", "--set", "time={}"], "spectral": []}.get(method, ["--set", "time.step=0.01"])
    result = heatsolve(place, *command, "case.cfg", "--set", f'{key}.method="{method}"', *more)
    assert result.returncode == 2 and result.stdout == ""
    assert f'--set: {key}.method = "{method}": tuning times sweeps, which this method does not make by themselves' in result.stderr
    assert f'tune the case as "{"sweeps" if key == "steady" else "euler"}"' in result.stderr
    assert not (place / "out.h5").exists()


def test_quiet_says_on_stderr_that_nothing_was_kept(place):
    (place / "file").write_text("")
    result = heatsolve(place, "tune", "case.cfg", "--quiet", XDG_CACHE_HOME=str(place / "file"))
    assert result.returncode == 0 and result.stdout == ""
    assert result.stderr.startswith("heatsolve: note: not kept: ") and "Not a directory" in result.stderr
    assert heatsolve(place, "tune", "case.cfg", "--quiet").stderr == ""


def test_a_kernel_that_is_named_stands_above_it(place):
    named = ["--set", 'solver.kernel="reference"']
    result = heatsolve(place, "tune", "case.cfg", *named)
    assert 'the config\'s solver.kernel = "reference" overrides this' in result.stdout
    answer = said(place, "check", "case.cfg", *named)
    assert answer["kernel"] == "reference" and answer["kernel_choice"] == "named"
    assert said(place, "check", "case.cfg")["kernel_choice"] == "tuned"
    # which kernels are possible, and which of them auto takes, does not depend on the named one
    rows = said(place, "kernels", "case.cfg", *named)["kernels"]
    assert [row["name"] for row in rows if row.get("auto")] == [said(place, "tune", "case.cfg")["kernel"]]


def test_bench_says_what_auto_takes(place):
    """bench has fixed walls, no source and no stops, and so has this case, for which `tune` is run."""
    asked = ["bench", "--points", "24,18", "--backend", "cpu", "--repeats", "1"]
    assert said(place, *asked)["kernel_choice"] == "heuristic"
    fixed = ["--set", 'boundary.all.type="fixed"', "--set", "output.every=5000", "--set", "time.sweeps=5000"]
    (place / "case.cfg").write_text(CASE.replace(" value = 280.0;", ""))
    found = said(place, "tune", "case.cfg", *fixed)
    after = said(place, *asked)
    assert after["kernel_choice"] == "tuned" and after["auto"] == found["kernel"]
    assert f"auto       {found['kernel']}, as tuned" in heatsolve(place, *asked).stdout


# ---- what cannot be used -------------------------------------------------------------------------


def assert_passed_over(place, because):
    for command in ("check", "run"):
        answer = said(place, command, "case.cfg")
        assert answer["kernel_choice"] == "heuristic"
        assert because in answer["note"] and "--retune" in answer["note"]
    assert because in heatsolve(place, "run", "case.cfg").stdout
    assert because in heatsolve(place, "check", "case.cfg").stdout
    healed = said(place, "tune", "case.cfg")
    assert not healed["tuned_before"] and because in healed["note"]
    assert said(place, "check", "case.cfg")["kernel_choice"] == "tuned"


@pytest.mark.parametrize("text", ["", "garbage\n", "\x00\x01", "heatsolve tuning, format 9\n"])
def test_a_corrupt_file_is_passed_over_and_healed(place, text):
    said(place, "tune", "case.cfg")
    kept(place).write_text(text)
    assert_passed_over(place, str(kept(place)))


def test_a_file_cut_short_is_passed_over_and_healed(place):
    said(place, "tune", "case.cfg")
    kept(place).write_text(kept(place).read_text()[:-4])
    assert_passed_over(place, "it is damaged")


def test_another_versions_file_is_passed_over_and_healed(place):
    said(place, "tune", "case.cfg")
    lines = kept(place).read_text().splitlines()
    lines[1] = "version 0.0.1, commit 0000000"
    kept(place).write_text("\n".join(lines) + "\n")
    assert_passed_over(place, "it is from heatsolve 0.0.1, commit 0000000")


@pytest.mark.parametrize("name", ["no_such", "reference", "conduction_wavefront"])  # unknown, or not for this case
def test_a_kernel_that_is_not_there_is_passed_over_and_healed(place, name):
    kernel = said(place, "tune", "case.cfg")["kernel"]
    kept(place).write_text(kept(place).read_text().replace(f"kernel {kernel} ", f"kernel {name} ", 1))
    assert_passed_over(place, f"no kernel {name} for the case")


@pytest.mark.parametrize("line", ["seconds nan", "seconds 1e300", "kernel openmp 1e-300 9", "kernel openmp 1e300 9"])
def test_times_that_none_takes_are_passed_over_and_healed(place, line):
    said(place, "tune", "case.cfg")
    word = line.split()[0]
    kept(place).write_text(re.sub(f"^{word} .*$", line, kept(place).read_text(), count=1, flags=re.MULTILINE))
    assert_passed_over(place, "it is damaged")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read all")
def test_an_unreadable_file_is_passed_over(place):
    said(place, "tune", "case.cfg")
    kept(place).chmod(0)
    answer = said(place, "check", "case.cfg")
    assert answer["kernel_choice"] == "heuristic" and "Permission denied" in answer["note"]


# ---- where it cannot be kept ---------------------------------------------------------------------


def test_where_it_cannot_be_kept_it_says_so_and_goes_on(place):
    (place / "file").write_text("")
    nowhere = {"XDG_CACHE_HOME": str(place / "file")}
    found = said(place, "tune", "case.cfg", **nowhere)
    assert found["file"] is None and "not kept: " in found["note"] and "Not a directory" in found["note"]
    assert "note: not kept: " in heatsolve(place, "tune", "case.cfg", **nowhere).stdout
    answer = said(place, "run", "case.cfg", **nowhere)
    assert answer["kernel_choice"] == "heuristic" and answer["note"] == ""


def test_without_a_home_it_says_so_and_goes_on(place):
    found = said(place, "tune", "case.cfg", XDG_CACHE_HOME=None, HOME=None)
    assert found["file"] is None and "neither XDG_CACHE_HOME nor HOME" in found["note"]
    assert said(place, "run", "case.cfg", XDG_CACHE_HOME=None, HOME=None)["kernel_choice"] == "heuristic"


def test_a_relative_cache_directory_is_ignored(place):
    found = said(place, "tune", "case.cfg", XDG_CACHE_HOME="cache", HOME=str(place / "home"))
    assert found["file"].startswith(str(place / "home" / ".cache" / "heatsolve" / "tune-"))
    assert not (place / "cache").exists()


# ---- the command line ----------------------------------------------------------------------------


def test_the_table_is_for_people(place):
    text = heatsolve(place, "tune", "case.cfg").stdout
    for part in ("2D, 24 x 18 nodes, radius 1, double", "GCell/s", "the fastest", "kept in "):
        assert part in text


@pytest.mark.parametrize(
    "arguments, code, message",
    [
        (["tune"], 2, "tune: needs a config file"),
        (["tune", "none.cfg"], 3, "none.cfg"),
        (["tune", "case.cfg", "--again"], 2, "--again: no such option"),
        (["tune", "case.cfg", "--set", "grid.pionts=[3]"], 2, "grid.points"),
        (["tune", "case.cfg", "--set", "time.step=1e9"], 2, "stability limit"),
        (["kernels", "none.cfg"], 3, "none.cfg"),
        (["kernels", "--set", "time.end=1.0"], 2, "--set: needs a config file"),
    ],
)
def test_mistakes_are_named(place, arguments, code, message):
    result = heatsolve(place, *arguments)
    assert result.returncode == code and message in result.stderr, result.stderr
    assert result.stdout == "" and not (place / "cache").exists()


# ---- the trial that a long run begins with ----------------------------------------------------------

LONG = ["--set", "grid.points=[150,100]", "--set", "time.sweeps=10000000", "--set", "output.every=5000000"]


def begin_long_run(place, until, **environment):
    """The output of a long run that is interrupted when the file `until` exists."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(place / "cache"), **environment}
    process = program.start(place, "run", "case.cfg", "--quiet", "--json", *LONG, env=environment, stdout=subprocess.PIPE, text=True)
    given_up = time.monotonic() + 60  # s: on a machine that is busy with other work it takes a second
    while not list(place.glob(until)) and process.poll() is None and time.monotonic() < given_up:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    return json.loads(out)


def test_a_long_run_tries_the_kernels_and_keeps_what_it_found(place):
    before = said(place, "check", "case.cfg", *LONG)
    assert before["kernel_choice"] == "heuristic" and before["kernel_trial"]
    assert "a run first times it against the others" in heatsolve(place, "check", "case.cfg", *LONG).stdout
    assert "auto tries it first" in heatsolve(place, "kernels", "case.cfg", *LONG).stdout
    ran = begin_long_run(place, "out.h5*")
    assert ran["kernel_choice"] == "tuned" and "tried the kernels for " in ran["note"]
    with h5py.File(place / "out.h5") as f:
        assert f.attrs["kernel_choice"] == "tuned" and f.attrs["kernel"] == ran["kernel"]
    rows = [line.split() for line in kept(place).read_text().splitlines() if line.startswith("kernel ")]
    assert rows[0][1] == ran["kernel"] and sorted(row[1] for row in rows) == ["openmp", "wavefront"]
    after = said(place, "check", "case.cfg", *LONG)
    assert after["kernel_choice"] == "tuned" and after["kernel"] == ran["kernel"] and not after["kernel_trial"]
    again = said(place, "run", "case.cfg", "--set", "grid.points=[150,100]", "--set", "time.sweeps=4000", "--set",
                 "output.every=2000", "--output", "again.h5")
    assert again["kernel_choice"] == "tuned" and again["note"] == ""


def test_a_cache_that_cannot_be_written_is_no_error(place):
    (place / "cache").write_text("a file")
    ran = begin_long_run(place, "out.h5*")
    assert ran["kernel_choice"] == "tuned" and "not kept: " in ran["note"]


def test_a_short_run_and_a_named_kernel_are_not_tried(place):
    assert not said(place, "check", "case.cfg")["kernel_trial"]
    assert said(place, "run", "case.cfg")["kernel_choice"] == "heuristic"
    assert not said(place, "check", "case.cfg", *LONG, "--set", 'solver.kernel="openmp"')["kernel_trial"]
    assert not (place / "cache").exists()
