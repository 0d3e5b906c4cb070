"""Random bodies, from config to file, against docs/numerics.md's definition, implemented independently in Python.

They cover shapes, labels, anisotropy, contacts, perfusion, stretched and periodic axes, every kind of wall with
numbers, expressions (also of place and time at once), files and tables, and patches by boxes and labels. A config of
one material on a uniform grid tests the stencil as well.
"""

import json
import os
import re

import numpy as np
import pytest
from helpers import BACKEND
from program import heatsolve
from random_body import Body, result

MANY = int(os.environ.get("HEATSOLVE_BODIES", "150"))


def printed(directory, *arguments):
    done = heatsolve(directory, *arguments)
    if "too many different sources and wall values" in done.stderr:
        pytest.skip("about one in 2,000 bodies has a node with more than that many")
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("seed", range(MANY))
def test_a_random_body_is_swept_as_defined(tmp_path, seed):
    body = Body(seed, tmp_path)
    printed(tmp_path, "run", "case.cfg", "--quiet", "--set", f"solver.backend={BACKEND}")
    first, last, end, history, flux = result(tmp_path)
    field, passed, source, stored, gross = body.sweep_all(first, end / body.sweeps)
    # the sums have another order: some roundings a sweep
    assert np.abs(last - field).max() <= 1e-12 * body.sweeps * max(1.0, np.abs(field).max())
    # differences of temperatures over a step: their error is the rounding of the fluxes
    rounding = 1e-10 * gross
    assert history["source"] == pytest.approx(source, abs=rounding)
    assert history["stored"] == pytest.approx(stored, abs=rounding)
    assert sum(flux.values()) == pytest.approx(source - stored, abs=rounding)
    assert set(flux) == set(passed)
    for wall in body.walls:
        if wall.kind == "exchanges":
            assert flux[wall.name] == pytest.approx(passed[wall.name], abs=rounding), wall.name


@pytest.mark.parametrize("seed", range(max(MANY // 5, 1)))
def test_the_power_of_given_fluxes_is_told(tmp_path, seed):
    body = Body(seed, tmp_path)
    told = json.loads(printed(tmp_path, "check", "case.cfg", "--json"))["flux_power"]
    due, gross = {wall.name: 0.0 for wall in body.walls if "flux" in wall.number}, 0.0
    places, _, _, walls = body.network()
    for place, (areas, _) in zip(places, walls):
        for wall, area in areas:
            if wall.name in due:
                due[wall.name] += area * wall.at("flux", place, 0)
                gross += area * abs(wall.at("flux", place, 0))
    assert told == {name: pytest.approx(power, abs=1e-13 * gross) for name, power in due.items()}


def last_field(directory, *settings):
    printed(directory, "run", "case.cfg", "--quiet", "--overwrite", *[word for s in settings for word in ("--set", s)])
    return result(directory)[1]


@pytest.mark.parametrize("seed", range(max(MANY // 5, 1)))
def test_long_steps_of_a_random_body_come_to_what_its_sweeps_come_to(tmp_path, seed):
    """Each method's own limit of short steps: euler's by 800, 1600 and 3200 steps or more, the others' by 400 and 800."""
    Body(seed, tmp_path)
    told = json.loads(printed(tmp_path, "check", "case.cfg", "--json"))
    end = min(told["step"] * told["sweeps"], 1.0)
    text = (tmp_path / "case.cfg").read_text()
    (tmp_path / "case.cfg").write_text(re.sub(r"time = {.*?};", f"time = {{ end = {end!r}; }};", text))
    least = max(800, int(end / told["stability_limit"]) + 2)
    one, two, four = (last_field(tmp_path, f"time.step={end / (n * least)!r}") for n in (1, 2, 4))
    due = (8 * four - 6 * two + one) / 3  # without the errors of first and second order
    unsure = np.abs(four - two).max()
    for method in ("rkl2", "implicit"):
        long, short = (last_field(tmp_path, f'time.method="{method}"', f"time.step={end / n!r}") for n in (400, 800))
        # kinks of tables within steps leave an error of another form than the one that is taken out; 1e-9 is for rounding
        # and for what implicit steps leave unsolved (30 bodies agree to 1e-10, too)
        most = 10 * np.abs(short - long).max() + 0.1 * unsure + 1e-9 * (1 + np.abs(due).max())
        assert np.abs((4 * short - long) / 3 - due).max() <= most, method


@pytest.mark.parametrize("seed", range(max(MANY // 5, 1)))
def test_the_slowest_mode_of_a_random_body_is_told(tmp_path, seed):
    body = Body(seed, tmp_path, steady="tolerance = 1e-6")
    told = json.loads(printed(tmp_path, "check", "case.cfg", "--json"))
    rates = body.rates()
    is_held = len(rates) > 0 and abs(rates[0]) > 1e-12 * rates[-1]
    rates = rates if is_held else rates[1:]
    if len(rates) == 0:
        assert told["steady_decay"] is None
    else:
        # the residual, which is within 0.01, bounds the distance to an eigenvalue
        assert told["steady_decay"] == pytest.approx(rates[0] * told["step"], rel=0.01)
    of_one = sum(material["volume"] > 0 for material in told["materials"]) == 1  # it may be a stencil
    if is_held:
        # A v = 1 is solved to at least 0.1; the bound for a stencil is twice the slowest mode's distance. Roundings of
        # 1e-16 of the temperatures are far below 1e-6 K.
        least = 1e-6 * (body.longest() / told["step"] + 1)
        most = 2.01 if of_one else 1.12
        assert 0.999999 * least < told["steady_distance_most"] < most * least
    elif told["steady_distance_most"] is not None:  # nor does a body whose mean is free have a bound
        assert of_one and told["steady_distance_most"] == pytest.approx(2e-6 / told["steady_decay"])
