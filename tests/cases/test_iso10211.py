"""ISO 10211, cases 1 to 4: the standard's temperatures and heat flows, to its own tolerances.

Each case is a config in configs/iso10211 that runs unchanged.
"""

import numpy as np
import pytest
from steady_body import Case

# ---- what the standard has: {quantity: (ours, the standard's, its tolerance)} ------------------------

COLUMN = """ 9.7 13.4 14.7 15.1
             5.3  8.6 10.3 10.8
             3.2  5.6  7.0  7.5
             2.0  3.6  4.7  5.0
             1.3  2.3  3.0  3.2
             0.7  1.4  1.8  1.9
             0.3  0.6  0.8  0.9"""


def case1(case):
    rows = [[float(T) for T in line.split()] for line in COLUMN.splitlines()]
    places = [(i / 8, 1 - j / 8) for j in range(1, 8) for i in range(1, 5)]
    told = [T for row in rows for T in row]
    return {f"T at {place}": (case.at(*place), T, 0.1) for place, T in zip(places, told)}


def case2(case):
    points = {
        "A": (0.0, 0.0475, 7.1),
        "B": (0.5, 0.0475, 0.8),
        "C": (0.0, 0.0415, 7.9),
        "D": (0.015, 0.0415, 6.3),
        "E": (0.5, 0.0415, 0.8),
        "F": (0.0, 0.0365, 16.4),
        "G": (0.015, 0.0365, 16.3),
        "H": (0.0, 0.0, 16.8),
        "I": (0.5, 0.0, 18.3),
    }
    return {
        **{name: (case.at(x, y), T, 0.1) for name, (x, y, T) in points.items()},
        "flow in": (-case.through_wall(1, 0, 1 / 0.11, 20.0), 9.5, 0.1),
        "flow out": (case.through_wall(1, -1, 1 / 0.06, 0.0), 9.5, 0.1),
    }


def case3(case):
    return {
        "from the lower room": (case.from_air("lower room"), 46.09, 0.01 * 46.09),
        "from the upper room": (case.from_air("upper room"), 13.89, 0.01 * 13.89),
        "to the outside": (-case.from_air("outside"), 59.98, 0.01 * 59.98),
        "lowest in the lower room": (case.corner((0.2, 0.2, 1.0), (1, 1, -1)), 11.32, 0.1),
        "lowest in the upper room": (case.corner((0.2, 0.2, 1.2), (1, 1, 1)), 11.11, 0.1),
    }


def case4(case):
    return {
        "flow in": (4 * case.from_air("room"), 0.540, 0.01 * 0.540),
        "flow out": (4 * case.through_wall(2, 0, 10.0, 0.0), 0.540, 0.01 * 0.540),
        "highest outside": (case.T[:, :, 0].max(), 0.805, 0.005),
    }


CASES = {"case1": case1, "case2": case2, "case3": case3, "case4": case4}


def beyond(told):
    return {name: row for name, row in told.items() if not abs(row[0] - row[1]) <= row[2]}


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    done = {}

    def case(name):
        if name not in done:
            done[name] = Case(tmp_path_factory.mktemp(name), f"iso10211/{name}")
        return done[name]

    return case


@pytest.mark.parametrize("name", CASES)
def test_it_is_what_the_standard_says(cases, name):
    assert beyond(CASES[name](cases(name))) == {}


@pytest.mark.parametrize("name", CASES)
def test_the_run_ends_near_its_steady_state(cases, name):
    """Within a fiftieth of the tolerance of the temperatures."""
    case = cases(name)
    assert case.status == "steady"
    assert case.distance < (0.005 if name == "case4" else 0.1) / 50


def test_what_flows_in_flows_out(cases):
    """So the body is steady, and the sums of the flows miss nothing."""
    for name, inward, outward in (
        ("case2", ["flow in"], "flow out"),
        ("case3", ["from the lower room", "from the upper room"], "to the outside"),
        ("case4", ["flow in"], "flow out"),
    ):
        told = CASES[name](cases(name))
        # the remaining distance from the steady state: at most 1e-4 K of the 1 K of case 4
        assert sum(told[part][0] for part in inward) == pytest.approx(told[outward][0], rel=1e-4)


def test_case1_is_the_series(cases):
    """Closer than the standard asks: errors are of second order in the spacing, 0.0034 K next to the corner."""
    case = cases("case1")
    n = np.arange(1, 400, 2) * np.pi
    for j in range(1, 8):
        for i in range(1, 5):
            x, y = i / 8, j / 8
            sinhs = np.exp(n * (y - 1)) * -np.expm1(-2 * n * y) / -np.expm1(-2 * n)
            assert case.at(x, y) == pytest.approx((80 / n * np.sin(n * x) * sinhs).sum(), abs=0.004)


@pytest.mark.parametrize(
    "name, old, new",
    [
        ("case1", "conductivity = 1.0", "conductivity = [1.05, 1.0]"),
        ("case2", "conductivity = 0.029", "conductivity = 0.03045"),
        ("case3", "conductivity = 2.5", "conductivity = 2.625"),
        ("case4", "conductivity = 0.1;", "conductivity = 0.105;"),  # iron's changes no result by its tolerance
    ],
)
def test_a_conductivity_that_is_5_percent_off_is_seen(tmp_path, name, old, new):
    assert beyond(CASES[name](Case(tmp_path, f"iso10211/{name}", [(old, new)]))) != {}
