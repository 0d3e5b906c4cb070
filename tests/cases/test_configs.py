"""Every case in configs/ runs, passes its own check, and shows what its comment promises."""

import json
import os
import pathlib
import re
import subprocess
import time

import h5py
import numpy as np
import pytest
from program import HEATSOLVE, heatsolve, must
from scipy.integrate import simpson

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONFIGS = sorted(c for c in (ROOT / "configs").rglob("*.cfg") if c.parent.name != "init")  # test_init.py has the others
SANITIZED = "sanitize" in HEATSOLVE  # many times slower, so times are not checked


def names(path):
    return str(path.relative_to(ROOT / "configs"))


@pytest.fixture(scope="module")
def run_once(tmp_path_factory):
    """Runs a case at most once for all tests: (summary, path of its file, seconds)."""
    done = {}

    def run(name):
        if name not in done:
            directory = tmp_path_factory.mktemp(name.replace("/", "-"))
            started = time.monotonic()
            summary = json.loads(must(directory, "run", ROOT / "configs" / name, "--json"))
            seconds = time.monotonic() - started
            files = sorted(directory.rglob("*.h5"))
            assert len(files) == 1, files
            done[name] = summary, files[0], seconds
        return done[name]

    return run


@pytest.mark.parametrize("config", CONFIGS, ids=names)
def test_it_runs_and_passes_its_own_check(run_once, config):
    summary, file, seconds = run_once(names(config))
    with h5py.File(file) as f:
        temperature = f["temperature"]
        assert temperature.shape[0] >= (1 if summary["steady_method"] not in (None, "sweeps") else 2)
        assert np.isfinite(temperature[-1]).all()
    if not SANITIZED:
        assert seconds < 60  # the README's promise, on two cores


@pytest.mark.parametrize("config", CONFIGS, ids=names)
def test_it_explains_itself(config):
    lines = config.read_text().splitlines()
    comment = [line for line in lines[: lines.index("")] if line.startswith("//")]
    assert len(comment) >= 8
    assert any(re.search(r"heatsolve run configs/" + re.escape(names(config)), line) for line in comment)


def bounded():
    return [c for c in CONFIGS if "max_error" in c.read_text().split("\n\n", 1)[1]]


def test_most_cases_know_their_answer():
    kinds = {c.stem for c in bounded() if c.parent.name == "boundary"}
    assert kinds == {"fixed", "dirichlet", "neumann", "robin", "periodic", "reflective", "clamp", "constant"}


@pytest.mark.parametrize("config", bounded(), ids=names)
def test_its_check_can_fail(run_once, tmp_path, config):
    """With a tenth of its actual error as the bound the case fails: the check uses the real error."""
    summary, file, _ = run_once(names(config))
    with h5py.File(file) as f:
        error = f["history/max_error"][-1]
    if error == 0.0:
        pytest.skip("exact to the last bit: no smaller bound exists")
    result = heatsolve(tmp_path, "run", config, "--quiet", "--set", f"exact.max_error={error / 10:.17g}")
    assert result.returncode == 1
    assert "max_error" in result.stderr


# ---- what the comments promise ------------------------------------------------------------------


def read(file, *names):
    with h5py.File(file) as f:
        return [f[name][:] for name in names]


def test_ground_swing_and_lag_at_depth(run_once):
    """73 % and 18 days at 1 m, 20 % and three months at 5 m, 4 % at 10 m (over ten whole years of months)."""
    _, file, _ = run_once("ground.cfg")
    year = 31556952.0
    time, *probes = read(file, "probes/time", "probes/surface", "probes/at_1m", "probes/at_5m", "probes/at_10m")
    months = np.searchsorted(time, np.arange(120) * year / 12)
    waves = [np.exp(-2j * np.pi * time[months] / year) @ p[months] / 60 for p in probes]
    swing = [abs(w) / abs(waves[0]) for w in waves]
    late = [np.angle(waves[0] / w) / (2 * np.pi) * 365.2425 for w in waves]
    assert swing[1] == pytest.approx(0.728, abs=0.002)
    assert swing[2] == pytest.approx(0.205, abs=0.002)
    assert swing[3] == pytest.approx(0.042, abs=0.002)
    assert late[1] == pytest.approx(18.4, abs=0.3)
    assert late[2] == pytest.approx(92, abs=1)


def test_demo_heat_is_what_the_modules_give_less_what_the_water_takes(run_once):
    """The rate of the heat content against 260 W less the convection of all six faces, at a late time."""
    _, file, _ = run_once("demo.cfg")
    with h5py.File(file) as f:
        T = f["temperature"][-2:]  # at 55 and 60 s
        heat = dict(zip(f["history/time"][:], f["history/heat"][:]))
        time = f["time"][-2:]
    h, spacing, ambient = 10.0, 0.00125, 293.15

    def convection(field):
        def face(values):  # trapezoidal rule: edge nodes have half the weight
            w = [np.ones(n) for n in values.shape]
            for v in w:
                v[0] = v[-1] = 0.5
            return ((values - ambient) * np.outer(*w)).sum() * spacing**2

        sides = (field[-1], field[:, 0], field[:, -1], field[:, :, 0], field[:, :, -1])
        return 1000.0 * face(field[0]) + h * sum(face(s) for s in sides)

    stored = heat[time[1]] - heat[time[0]]
    given = 5.0 * (260.0 - (convection(T[0]) + convection(T[1])) / 2)
    # the mean of the two ends for 5 s of a decay with 48 s: (5/48)^2/12 = 1e-3 of the rate's change
    assert stored == pytest.approx(given, rel=2e-3)


def test_plate_is_steady_before_its_sweeps_are_used_up(run_once):
    summary, _, _ = run_once("plate.cfg")
    assert summary["status"] == "steady"
    assert summary["sweeps"] < 200000


def test_wall_is_as_its_layers_say(run_once):
    """Means of the last day from the layers' resistances; amplitudes and their hours as in the config's comment."""
    _, file, _ = run_once("wall.cfg")
    time, *probes = read(file, *(f"probes/{n}" for n in ("time", "facing", "behind_facing", "behind_wool", "room_side")))
    resistance = np.cumsum([0.04, 0.105 / 0.77, 0.1 / 0.038, 0.105 / 0.56 + 0.013 / 0.57, 0.13])
    mean_air = 280 * (2 / np.pi) * (6 / 24) / 25
    day = (time >= 172800.0) & (time < 259200.0)
    hours = time[day] / 3600 - 48
    for probe, before in zip(probes, resistance):
        mean = mean_air + (20 - mean_air) * before / resistance[-1]
        # half-hourly samples miss when the sun comes and goes: 0.002 K in the facing's mean
        assert probe[day].mean() == pytest.approx(mean, abs=0.005)
    swing = [np.ptp(probe[day]) for probe in probes]
    assert swing[0] == pytest.approx(13.8, abs=0.1)
    assert swing[2] == pytest.approx(0.42, abs=0.02)
    assert swing[3] == pytest.approx(0.136, abs=0.004)
    assert hours[probes[0][day].argmax()] == pytest.approx(13, abs=0.5)
    assert hours[probes[3][day].argmax()] == pytest.approx(1, abs=0.5)


@pytest.mark.parametrize("name, mean", [("periodic", 1.0), ("reflective", 300.0), ("clamp", 293.0)])
def test_insulated_and_periodic_means_stay(run_once, name, mean):
    _, file, _ = run_once(f"boundary/{name}.cfg")
    (means,) = read(file, "history/mean")
    # a rounding of 1e-16 in each of up to a thousand sweeps
    assert np.abs(means - mean).max() < 1e-12 * mean


def test_neumann_heat_rises_by_its_flux(run_once):
    _, file, _ = run_once("boundary/neumann.cfg")
    time, heat = read(file, "history/time", "history/heat")
    rate = np.diff(heat) / np.diff(time)
    assert np.abs(rate / 5e4 - 1).max() < 1e-9  # sums of 1e8 J/m^2 are exact to 1e-8 J/m^2


def other(tmp_path, name, *settings):
    arguments = [part for setting in settings for part in ("--set", setting)]
    result = heatsolve(tmp_path, "run", ROOT / "configs" / name, "--json", *arguments)
    return result.returncode, json.loads(result.stdout)


def test_second_order_is_not_enough_for_the_periodic_case(tmp_path):
    code, summary = other(tmp_path, "boundary/periodic.cfg", "stencil.radius=1")
    assert code == 1 and summary["max_error"] > 4e-4


def test_twice_the_points_quarter_the_robin_error(run_once, tmp_path):
    coarse, _, _ = run_once("boundary/robin.cfg")
    _, fine = other(tmp_path, "boundary/robin.cfg", "grid.points=[101]")
    assert coarse["max_error"] / fine["max_error"] == pytest.approx(4.0, abs=0.1)


def make_again(tmp_path, script):
    (tmp_path / script).write_text((ROOT / "data" / script).read_text())
    subprocess.run(["/usr/bin/env", "python3", tmp_path / script], check=True, env={**os.environ, "PATH": "/usr/bin:/bin"})


def test_restart_reads_the_field_its_script_writes(tmp_path):
    """The committed file is what data/restart.py writes."""
    make_again(tmp_path, "restart.py")
    (made,) = read(tmp_path / "restart.h5", "temperature")
    (kept,) = read(ROOT / "data" / "restart.h5", "temperature")
    # another numpy may round a cosine differently
    assert np.abs(made - kept).max() < 1e-12


# ---- bodies of several materials -----------------------------------------------------------------


def test_chip_takes_the_power_map_its_script_writes(tmp_path):
    make_again(tmp_path, "chip.py")
    power = np.load(tmp_path / "chip-power.npy")
    assert np.array_equal(power, np.load(ROOT / "data" / "chip-power.npy"))
    assert power.sum() * 1e-6 == pytest.approx(60.0)


def test_chip_heat_is_what_the_map_gives_less_what_the_fins_take(run_once):
    """From 10 to 30 s, at full power: 60 W less h (T - 25) over the top, by Simpson's rule with steps of 5 s."""
    _, file, _ = run_once("chip.cfg")
    with h5py.File(file) as f:
        time, T, heat = f["time"][:], f["temperature"][:, -1], dict(zip(f["history/time"][:], f["history/heat"][:]))
    weight = np.ones(41)
    weight[[0, -1]] = 0.5
    taken = 900.0 * 1e-6 * ((T - 25.0) * np.outer(weight, weight)).sum(axis=(1, 2))  # W
    assert time[2] == 10.0 and time[6] == 30.0
    stored = heat[time[6]] - heat[time[2]]
    # the fins follow the load in some 20 s: (5/20)^4/180 of their 40 W is negligible; the die's faster start gives 1e-3
    assert stored == pytest.approx(60.0 * 20.0 - simpson(taken[2:7], x=time[2:7]), rel=1e-3)


def test_laser_peaks_are_those_of_its_comment(run_once):
    _, file, _ = run_once("laser.cfg")
    (T,) = read(file, "temperature")
    assert T[2:5].max() == pytest.approx(408.0, abs=1.0)
    assert T[6].max() == pytest.approx(220.0, abs=1.0)


def test_laser_heat_stays_in_plates_that_lose_none(tmp_path):
    """200 W for 4 s in a thickness of 2 mm, while the whole spot is over the plate; no heat is lost to air."""
    still = ["materials[0].perfusion.rate=0", "materials[1].perfusion.rate=0", "time.end=6", "grid.points=[101, 41]"]
    code, summary = other(tmp_path, "laser.cfg", *still)
    assert code == 0
    started = 20.0 * (0.002 * 7900 * 477 + 0.002 * 2770 * 875)
    # at the start, 5 widths from the edge, exp(-12.5) of the spot misses the plate
    assert summary["heat"] - started == pytest.approx(200.0 * 6.0 / 0.002, rel=1e-5)
