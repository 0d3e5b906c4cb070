"""heatsolve bench --methods: errors are those against an exact solution and fall with the order of each method; refusals
are reported; table, JSON, CSV and picture agree."""

import csv
import io
import json
import math
import os
import pathlib
import re
import struct
import sys

import pytest
from program import heatsolve, must

ROOT = pathlib.Path(__file__).resolve().parents[2]
SMALL = ["--methods", "--backend", "cpu", "--points", "17", "--threads", "1", "--repeats", "3"]
CASES = ["smooth", "box", "stack", "cube"]


def bench(*arguments, peers=ROOT / "tests" / "peers"):
    environment = dict(os.environ, PYTHON=sys.executable, HEATSOLVE_PEERS=str(peers))
    return heatsolve(".", "bench", *arguments, env=environment, timeout=300)


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """(the JSON, the path of the picture)"""
    picture = tmp_path_factory.mktemp("picture") / "methods.png"
    result = bench(*SMALL, "--json", "--chart", str(picture))
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout), picture


@pytest.fixture(scope="module")
def cases(measured):
    return {case["case"]: case for case in measured[0]["cases"]}


def rows(case, method):
    return [row for row in case["rows"] if row["method"] == method]


def methods(kind):
    """The program's methods for "time" or "steady", from its list of options."""
    listed = must(".", "options")
    table = listed.split("\nMETHOD ")[1].split("\n\n")[0].splitlines()[1:]
    return {line.split()[0] for line in table if kind in re.split(r"  +", line)[1].split(", ")}


def test_every_method_is_there_or_says_why_not(cases):
    assert list(cases) == CASES
    for name in CASES[:3]:
        told = {row["method"]: row for row in cases[name]["rows"]}
        assert set(told) == methods("time")
    assert {row["method"] for row in cases["cube"]["rows"]} == methods("steady") | {"sweeps"}
    refused = {row["method"]: row["none"] for row in cases["stack"]["rows"] if "none" in row}
    assert set(refused) == {"exponential", "spectral"} and all("one material" in why for why in refused.values())
    assert not any("none" in row for name in ("smooth", "box", "cube") for row in cases[name]["rows"])


def order(case, method):
    """The observed order, from the last two numbers of steps."""
    coarse, fine = rows(case, method)[-2:]
    return math.log(coarse["error"] / fine["error"]) / math.log(fine["steps"] / coarse["steps"])


@pytest.mark.parametrize("name", CASES[:3])
def test_errors_fall_with_the_order(cases, name):
    case = cases[name]
    # for the last two numbers of steps, where the next power contributes some percent of the error
    assert order(case, "euler") == pytest.approx(1.0, abs=0.05)
    assert order(case, "rkl2") == pytest.approx(2.0, abs=0.2)
    errors = [row["error"] for row in rows(case, "rkl2")]
    assert errors == sorted(errors, reverse=True) and errors[-1] > 10 * case["reference_error"]


@pytest.mark.parametrize("name", CASES[:2])
def test_what_has_no_error_in_time_has_none(cases, name):
    case = cases[name]
    (row,) = rows(case, "exponential")
    assert row["sweeps"] is None
    # the reference takes some thousand sweeps with rounded coefficients
    assert row["error"] <= case["reference_error"] < 1e-11


def test_smooth_decay_is_that_of_its_mode(cases):
    """The decay rate of the slowest mode on the grid is known, and so are the errors of Euler's steps."""
    case = cases["smooth"]
    assert case["points"] == [17, 17, 17] and case["end"] == 0.1
    rate = 12 * 16**2 * math.sin(math.pi / 32) ** 2
    for row in rows(case, "euler") + rows(case, "spectral"):
        step = case["end"] / row["steps"]
        exact = math.exp(-rate * case["end"])
        # two to three digits above the rounding of a run, which is 1e-13 of the field
        assert row["error"] == pytest.approx(1.0 - (1.0 - rate * step) ** row["steps"] / exact, rel=1e-9)


def test_what_makes_sweeps_at_once_has_their_errors(cases):
    for name in CASES[:2]:
        swept, at_once = rows(cases[name], "euler"), rows(cases[name], "spectral")
        assert [row["steps"] for row in swept] == [row["steps"] for row in at_once]
        for a, b in zip(swept, at_once):
            assert a["error"] == pytest.approx(b["error"], rel=1e-9)  # the same tolerance as above
            assert a["sweeps"] == a["steps"] and b["sweeps"] is None


def test_steady_states_are_reached(cases):
    case = cases["cube"]
    assert "end" not in case and case["tolerance"] == 1e-8
    for row in case["rows"]:
        assert 0 <= row["residual"] <= case["tolerance"] and "error" not in row
    assert rows(case, "spectral")[0]["residual"] < 1e-12  # no iterations, so the residual is the rounding of a sweep
    assert rows(case, "sweeps")[0]["steps"] % 100 == 0  # a run checks every 100 sweeps


def test_times_are_in_order(cases):
    for case in cases.values():
        for row in case["rows"]:
            if "none" not in row:
                seconds = row["seconds"]
                assert 0 < seconds["min"] <= seconds["median"] <= seconds["max"] and row["samples"] == 3


def test_the_picture_has_a_plot_for_each_case(measured):
    head = measured[1].read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">II", head[16:]) == (1200, 4 * 750)


def test_table_and_csv_say_the_same(cases):
    table = bench(*SMALL).stdout
    for name in CASES:
        assert re.search(rf"^{name}: {cases[name]['title']}, 17 x 17 x ", table, re.M)
    assert table.count("none: it can do only one material") == 2
    result = bench(*SMALL, "--csv")
    assert result.returncode == 0, result.stderr
    found = list(csv.DictReader(io.StringIO(result.stdout)))
    timed = [(name, row) for name in CASES for row in cases[name]["rows"] if "none" not in row]
    assert [(row["case"], row["name"], int(row["steps"])) for row in found] == [
        (name, row["method"], row["steps"]) for name, row in timed
    ]
    for row, (name, expected) in zip(found, timed):
        assert None not in row and None not in row.values()  # as many values as columns
        assert row["measure"] == ("residual" if name == "cube" else "error")
        # printed with %.6e; on one thread the bits are the same, except for what libraries compute
        assert float(row["value"]) == pytest.approx(expected[row["measure"]], rel=1e-5, abs=1e-11)


def test_float_is_measured_against_double():
    result = bench(*SMALL, "--precision", "float", "--points", "9", "--json")
    assert result.returncode == 0, result.stderr
    case = json.loads(result.stdout)["cases"][0]
    (row,) = rows(case, "exponential")
    assert 1e-9 < row["error"] < 1e-6  # one or two roundings in float, 6e-8


PEER = """
import common
def answers(case):
    np = common.need("numpy")
    if case.steady:
        raise common.Absent("not today")
    C, A, b = case.equations()
    dt = 0.9 / np.max(np.asarray(abs(A).sum(axis=1)).ravel() / C)
    for name, share in (("half", 1), ("quarter", 2)):
        steps = share * int(np.ceil(case.end / dt))
        def go(steps=steps):
            T = case.start[case.free]
            for _ in range(steps):
                T = T + case.end / steps * (b - A @ T) / C
            return T
        yield name, "loop 1.0", steps, go
common.main(__file__, answers)
"""


def test_peers_get_the_equations(tmp_path):
    """Euler's steps in SciPy, of order 1 with the same reference, also for the walls and materials of the stack."""
    folder = tmp_path / "methods"
    folder.mkdir()
    for shared in ("absent.py", "methods/common.py"):
        (tmp_path / shared).write_text((ROOT / "tests" / "peers" / shared).read_text())
    (folder / "loop.py").write_text(PEER)
    (folder / "slow.py").write_text(
        "import json, time\n"
        "print(json.dumps(dict(name='begun', steps=7, samples=1, seconds=1, seconds_min=1, seconds_max=1)), flush=True)\n"
        "time.sleep(60)\n"
    )
    (tmp_path / "run.py").write_text((ROOT / "tests" / "peers" / "run.py").read_text())
    small = [*SMALL, "--points", "9", "--peer-seconds", "10"]
    result = bench(*small, "--peer", "loop", "--json", peers=tmp_path)
    assert result.returncode == 0, result.stderr
    cases = {case["case"]: [row for row in case["rows"] if "peer" in row] for case in json.loads(result.stdout)["cases"]}
    for name in CASES[:3]:
        half, quarter = cases[name]
        assert (half["peer"], half["version"], quarter["steps"]) == ("half", "loop 1.0", 2 * half["steps"])
        assert half["error"] / quarter["error"] == pytest.approx(2.0, rel=0.1) and quarter["error"] < 0.1
    assert cases["cube"] == [{"peer": "loop", "none": "not today"}]
    # the answers given in time count
    table = bench(*small, "--peer", "slow", "--peer-seconds", "1", peers=tmp_path).stdout
    assert table.count("peer: begun") == 4 and table.count("longer than 1 s") == 4


def test_unknown_peers_are_refused_before_the_work():
    result = bench(*SMALL, "--peer", "nobody")
    assert result.returncode == 2 and "scipy_direct" in result.stderr


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["--methods", "--kernel", "openmp"], "--methods has cases of its own"),
        (["--methods", "--radius", "2"], "--methods has cases of its own"),
        (["--methods", "--points", "5"], "--points 5: give one number, 9 to 1025"),
        (["--methods", "--points", "9,9"], "--points 9,9: give one number, 9 to 1025"),
        (["--methods", "--precision", "half"], "--precision half"),
        (["--methods", "--chart", "picture.jpg"], "--chart picture.jpg: pictures are PNG, SVG or PDF"),
        (["--chart", "picture.png"], "--chart belongs to --methods"),
    ],
)
def test_refusals(arguments, said):
    result = bench(*arguments)
    assert result.returncode == 2 and said in result.stderr
