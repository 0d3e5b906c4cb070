"""Bodies of several materials in time, against series and closed solutions, each with its expected order.

The step is a fixed share of the longest stable one, so it is proportional to the square of the spacing, and order 2
covers space and time together.
"""

import math

import numpy as np
import pytest
from helpers import assert_order, run
from scipy.optimize import brentq

PRECISIONS = ["double", "float"]


class TwoLayers:
    """A slab of two materials, 0 <= x <= a <= x <= 1, initially at 1, with its outer sides held at 0 and a contact
    resistance between the materials (Carslaw and Jaeger, 2nd ed., 12.8; Mikhailov and Ozisik, 1984, ch. 8)."""

    def __init__(self, a, k, c, resistance=0.0):
        self.a, self.k, self.c, self.resistance = a, k, c, resistance
        self.root = [math.sqrt(c[n] / k[n]) for n in (0, 1)]  # of 1/diffusivity
        self.modes = self.find_modes(60)

    def determinant(self, m):
        """Zero for a mode that decays as exp(-m^2 t): sin(p x) on the left, s*sin(r (1 - x)) on the right; p k cos(p a)
        is the flux into the interface from the left."""
        p, r = m * self.root[0], m * self.root[1]
        (k, l), b = self.k, 1.0 - self.a
        left, right = p * k * math.cos(p * self.a), r * l * math.cos(r * b)
        jump = math.sin(p * self.a) + self.resistance * left
        return left * math.sin(r * b) + right * jump

    def find_modes(self, count):
        """All roots in order, bracketed by sign changes on a fine grid of m."""
        step, modes, m = 0.02, [], 1e-6
        while len(modes) < count:
            if self.determinant(m) * self.determinant(m + step) < 0.0:
                modes.append(brentq(self.determinant, m, m + step, xtol=1e-14))
            m += step
        return modes

    def exact(self, x, t):
        total = np.zeros_like(x)
        a, b = self.a, 1.0 - self.a
        for m in self.modes:
            p, r = m * self.root[0], m * self.root[1]
            # the flux is the same on both sides: p k cos(p a) = -s r l cos(r b), unless both vanish
            left, right = p * self.k[0] * math.cos(p * a), r * self.k[1] * math.cos(r * b)
            if abs(right) > 1e-9 * r * self.k[1]:
                s = -left / right
            else:
                s = (math.sin(p * a) + self.resistance * left) / math.sin(r * b)
            # integrals of rho c times the mode, and times its square
            mean = self.c[0] * (1 - math.cos(p * a)) / p + s * self.c[1] * (1 - math.cos(r * b)) / r
            square = self.c[0] * (a / 2 - math.sin(2 * p * a) / (4 * p)) + s * s * self.c[1] * (
                b / 2 - math.sin(2 * r * b) / (4 * r)
            )
            mode = np.where(x <= a, np.sin(p * x), s * np.sin(r * (1 - x)))
            total += mean / square * mode * math.exp(-m * m * t)
        return total

    def errors(self, directory, grids, precision="double", end=0.05):
        """The largest error on each grid, with a step of 0.35 of the spacing squared over the larger diffusivity."""
        errors = []
        for cells in grids:
            sweeps = math.ceil(end * max(k / c for k, c in zip(self.k, self.c)) * cells**2 / 0.35)
            settings = {
                "precision": precision,
                "grid": {"points": [cells + 1], "upper": [1.0]},
                "materials": [
                    {"name": n, "conductivity": k, "density": c, "specific_heat": 1.0}
                    for n, k, c in zip(("left", "right"), self.k, self.c)
                ],
                "body": [{"material": "right"}, {"material": "left", "shape": "half-space", "point": [self.a], "normal": [1.0]}],
                "contacts": [{"between": ["left", "right"], "resistance": self.resistance}],
                "boundary": {"all": {"type": "dirichlet", "value": 0.0}},
                "initial": {"expression": "x>0&&x<1?1:0"},
                "time": {"end": end, "step": end / sweeps},
            }
            result = run(directory, settings)
            errors.append(np.abs(result.field - self.exact(result.coordinates["x"], result.time[-1])).max())
        return errors


def test_the_series_is_the_one_of_a_single_material_where_both_are_alike():
    """Its roots are then those of sin, and it sums to the series of one material."""
    slab = TwoLayers(0.3, (2.0, 2.0), (1.0, 1.0))
    np.testing.assert_allclose(slab.modes[:20], math.sqrt(2.0) * math.pi * np.arange(1, 21), rtol=1e-12)
    x = np.linspace(0.1, 0.9, 9)
    single = sum(4 / (n * math.pi) * np.sin(n * math.pi * x) * math.exp(-2 * (n * math.pi) ** 2 * 0.01) for n in range(1, 60, 2))
    np.testing.assert_allclose(slab.exact(x, 0.01), single, rtol=1e-10)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("resistance", [0.0, 0.25])
def test_two_layers_that_meet_halfway_between_nodes(tmp_path, resistance, precision):
    """The interface is a face between control volumes on all three grids: order 2, with or without a contact."""
    slab = TwoLayers(0.5, (1.0, 0.3), (1.0, 2.0), resistance)
    assert_order(slab.errors(tmp_path, (9, 27, 81), precision), 1.9, 2.1, ratio=3.0)


def test_two_layers_that_meet_at_a_node(tmp_path):
    slab = TwoLayers(0.25, (1.0, 0.3), (1.0, 2.0))
    assert_order(slab.errors(tmp_path, (12, 24, 48)), 1.8, 2.2)


@pytest.mark.parametrize("k", [(1.0, 0.3), (0.05, 1.0)])
def test_two_layers_that_meet_anywhere(tmp_path, k):
    """Order 2 as well, but the error jumps from grid to grid with the place of the interface in its cell; so the order
    is fitted by a line through seven grids."""
    slab = TwoLayers(1 / math.pi, k, (1.0, 2.0))
    grids = (10, 14, 20, 28, 40, 56, 80)
    errors = slab.errors(tmp_path, grids)
    assert -2.25 <= np.polyfit(np.log(grids), np.log(errors), 1)[0] <= -1.75, errors


def test_a_contact_within_a_control_volume_comes_with_the_first_order(tmp_path):
    """The part beyond the contact has another temperature than the node to whose heat it is added."""
    slab = TwoLayers(0.25, (1.0, 0.3), (1.0, 2.0), resistance=0.25)
    assert_order(slab.errors(tmp_path, (12, 24, 48)), 0.9, 1.2)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("dims", [2, 3])
def test_anisotropic_gaussian(tmp_path, dims, precision):
    """A different conductivity along each axis: s_a^2 = s0^2 + 2 k_a t. The walls are 6 widths away: nothing reaches
    them."""
    k = [0.5, 2.0, 1.0][:dims]
    exact = "*".join(f"sqrt(0.01/(0.01+2*{k_a}*t))*exp(-{a}^2/(2*(0.01+2*{k_a}*t)))" for a, k_a in zip("xyz", k))
    errors = []
    for cells in {1: (16, 32, 64), 2: (16, 32, 64), 3: (12, 24, 48)}[dims]:
        sweeps = cells**2 // 16  # stable: 0.25 of cells^2 / (2 * 1.5^2 * 3.5)
        settings = {
            "precision": precision,
            "grid": {"points": [cells + 1] * dims, "lower": [-0.75] * dims, "upper": [0.75] * dims},
            "materials": [{"name": "wood", "conductivity": k, "density": 2.0, "specific_heat": 0.5}],
            "body": [{"material": "wood"}],
            "boundary": {"all": {"type": "reflective"}},
            "initial": {"expression": exact},
            "exact": {"expression": exact},
            "time": {"end": 0.002, "step": 0.002 / sweeps},
        }
        errors.append(run(tmp_path, settings).history["max_error"][-1])
    assert_order(errors, 1.85, 2.2)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_perfusion_decays_as_an_exponential(tmp_path, dims, precision):
    """T - T_blood falls by 1 - b dt a sweep, where b is the rate over rho c: as exp(-b t), to first order in dt."""
    b, blood, start, end = 0.4, 3.0, 4.0, 2.0
    errors = []
    for sweeps in (64, 128, 256):
        settings = {
            "precision": precision,
            "grid": {"points": [6, 5, 4][:dims], "upper": [5.0] * dims},
            "materials": [{"name": "tissue", "conductivity": 0.5, "density": 10.0, "specific_heat": 0.5,
                           "perfusion": {"rate": b * 5.0, "reference": blood}}],
            "body": [{"material": "tissue"}],
            "boundary": {"all": {"type": "reflective"}},
            "initial": {"value": start},
            "time": {"end": end, "step": end / sweeps},
        }  # fmt: skip
        field = run(tmp_path, settings).field.astype(float)
        u = 2.0 ** {"double": -53, "float": -24}[precision]
        # four roundings a sweep, of at most 4 K, in the sum, the sink and the forcing
        assert np.abs(field - (blood + (start - blood) * (1 - b * end / sweeps) ** sweeps)).max() <= 4 * sweeps * 4 * u
        errors.append(np.abs(field - (blood + (start - blood) * math.exp(-b * end))).max())
    assert_order(errors, 0.95, 1.05)


def test_blood_that_changes_its_temperature(tmp_path):
    """T' = b (T_b - T) with T_b = t gives t - 1/b + exp(-b t)/b, with first order in the step."""
    b = 0.4
    errors = []
    for sweeps in (64, 128):
        settings = {
            "grid": {"points": [5], "upper": [5.0]},
            "materials": [{"name": "tissue", "conductivity": 0.5, "density": 10.0, "specific_heat": 0.5,
                           "perfusion": {"rate": b * 5.0, "reference": "t"}}],
            "body": [{"material": "tissue"}],
            "boundary": {"all": {"type": "reflective"}},
            "initial": {"value": 0.0},
            "time": {"end": 2.0, "step": 2.0 / sweeps},
        }  # fmt: skip
        errors.append(np.abs(run(tmp_path, settings).field - (2.0 - 1 / b + math.exp(-b * 2.0) / b)).max())
    assert errors[1] < 5e-3
    assert_order(errors, 0.95, 1.05)


def test_each_material_has_its_own_source(tmp_path):
    """The conduction between the halves is negligible: each warms by its source over its heat capacity."""
    settings = {
        "grid": {"points": [9], "upper": [0.8]},
        "materials": [
            {"name": "a", "conductivity": 1e-12, "density": 2.0, "specific_heat": 1.0, "source": "3*t"},
            {"name": "b", "conductivity": 1e-12, "density": 5.0, "specific_heat": 1.0, "source": 10.0},
        ],
        "body": [{"material": "a"}, {"material": "b", "shape": "half-space", "point": [0.33], "normal": [-1.0]}],
        "boundary": {"all": {"type": "reflective"}},
        "initial": {"value": 0.0},
        "time": {"end": 1.0, "step": 1.0 / 64},
    }
    field = run(tmp_path, settings).field
    # sum of 3 t dt at the starts of the sweeps; the control volume from 0.25 to 0.35 contains both materials
    a, b = 3.0 * (63 * 64 / 2) / 64**2, 10.0
    mixed = (0.08 * a + 0.02 * b) / (0.08 * 2.0 + 0.02 * 5.0)
    expected = [a / 2.0] * 3 + [mixed] + [b / 5.0] * 5
    assert np.abs(field - expected).max() < 1e-10  # conduction of 1e-12 over 0.1 m in a second
