"""Shared by the whole-run tests with exact answers: configs from Python, a single run, its numbers, observed orders.

Everything takes the user's way: a config file, `heatsolve run`, h5py.
"""

import math
import os

import h5py
import numpy as np
from program import columns, heatsolve
from scipy.special import erf, erfc

BACKEND = os.environ.get("HEATSOLVE_BACKEND", "cpu")
AXES = "xyz"
ROUNDOFF = {"float": 2.0**-24, "double": 2.0**-53}

# The distance of each kind's wall outside the edge node, in spacings, and the kinds whose edge node stands for a whole
# cell instead of half (docs/numerics.md).
WALL = {"clamp": 0.5, "constant": 1.0}
WHOLE_EDGE = {"clamp", "constant", "periodic"}


def setting(value):
    """A Python value as libconfig writes it."""
    if isinstance(value, dict):
        return "{ " + " ".join(f"{key} = {setting(v)};" for key, v in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        opens, closes = "()" if value and isinstance(value[0], dict) else "[]"  # a list for groups
        return opens + ", ".join(setting(v) for v in value) + closes
    if isinstance(value, str):
        return '"' + value + '"'
    return repr(float(value)) if isinstance(value, (float, np.floating)) else str(value)


def config(settings):
    return "\n".join(f"{key} = {setting(value)};" for key, value in settings.items()) + "\n"


def evaluate(expression, t=0.0, **coordinates):
    """The value of the program's expression, computed by Python."""
    names = {name: getattr(np, name) for name in ("sin", "cos", "exp", "sqrt", "cosh", "sinh")}
    names.update(pi=math.pi, t=t, erf=erf, erfc=erfc, **coordinates)
    return eval(expression.replace("^", "**"), {"__builtins__": {}}, names)


class Result:
    """A finished run: the last field [z][y][x], coordinates that broadcast against it, the history."""

    def __init__(self, path, settings):
        self.settings = settings
        with h5py.File(path) as f:
            self.time = f["time"][...]
            self.field = f["temperature"][-1]
            self.first = f["temperature"][0]
            self.history = columns(f["history"])
            self.attributes = dict(f.attrs)
            self.dims = self.field.ndim
            self.coordinates = {}
            for axis, name in enumerate(AXES[: self.dims]):
                shape = [1] * self.dims
                shape[self.dims - 1 - axis] = -1
                self.coordinates[name] = f[name][...].reshape(shape)

    def evaluate(self, expression, t=None):
        t = self.time[-1] if t is None else t
        with np.errstate(divide="ignore"):
            value = evaluate(expression, t=t, **self.coordinates)
        return np.broadcast_to(value, self.field.shape)

    def weights(self):
        """The share of a cell that each node stands for, from the faces' kinds."""
        weight = np.ones(self.field.shape)
        boundary = self.settings["boundary"]
        for axis, name in enumerate(AXES[: self.dims]):
            rows = np.moveaxis(weight, self.dims - 1 - axis, 0)
            for side, row in (("min", 0), ("max", -1)):
                kind = boundary.get(f"{name}_{side}", boundary.get("all", {})).get("type", "fixed")
                if kind not in WHOLE_EDGE:
                    rows[row] *= 0.5
        return weight

    def error(self):
        """The largest |T - exact| at the end, by numpy; checks that the program's own norms agree."""
        exact = self.evaluate(self.settings["exact"]["expression"])
        difference = np.abs(self.field.astype(float) - exact)
        weight = self.weights()
        l2 = math.sqrt((weight * difference**2).sum() / weight.sum())
        # two evaluations of one expression: some ten operations, each rounded to an ulp or two of |T|
        slack = 1e-13 * (1.0 + np.abs(exact).max())
        assert abs(self.history["max_error"][-1] - difference.max()) <= slack
        assert abs(self.history["l2_error"][-1] - l2) <= slack
        return difference.max()


def command(directory, settings, verb, *arguments, name="case"):
    """Any command on the config; output.file and the backend are filled in."""
    settings = {**settings, "solver": {"backend": BACKEND, **settings.get("solver", {})}}
    settings["output"] = {"file": f"{name}.h5", **settings.get("output", {})}
    (directory / f"{name}.cfg").write_text(config(settings))
    return heatsolve(directory, verb, f"{name}.cfg", *arguments, timeout=300)


def refused(directory, settings):
    """What `check` and `run` both say of a case that a run does not begin, and the exit code; nothing is written."""
    said = [command(directory, settings, verb, "--quiet") for verb in ("check", "run")]
    assert said[0].returncode == said[1].returncode != 0 and said[0].stderr == said[1].stderr, said
    assert not (directory / "case.h5").exists()
    return said[1].returncode, said[1].stderr


def run(directory, settings, name="case"):
    """Runs the config likewise, and returns its Result."""
    done = command(directory, settings, "run", "--quiet", "--overwrite", name=name)
    assert done.returncode == 0, done.stderr + (directory / f"{name}.cfg").read_text()
    return Result(directory / f"{name}.h5", settings)


def axis_grid(cells, low, high):
    """(points, lower, spacing) for the unit interval cut into `cells`, by the kinds of its two walls."""
    h = 1.0 / cells
    if low == "periodic":
        return cells, 0.0, h
    points = cells + 1 - WALL.get(low, 0.0) - WALL.get(high, 0.0)
    assert points == int(points), "the two walls do not fit a common spacing"
    return int(points), WALL.get(low, 0.0) * h, h


def unit_grid(cells, boundary, dims):
    """`grid` for the unit interval, square or cube, with the walls where the faces' kinds put them."""
    axes = [axis_grid(cells, boundary[f"{a}_min"]["type"], boundary[f"{a}_max"]["type"]) for a in AXES[:dims]]
    points, lower, spacing = zip(*axes)
    return {"points": list(points), "lower": list(lower), "spacing": list(spacing)}


def orders(errors, ratio=2.0):
    return [math.log(a / b) / math.log(ratio) for a, b in zip(errors, errors[1:])]


def assert_order(errors, low, high, what="", ratio=2.0):
    observed = orders(errors, ratio)
    assert all(low <= p <= high for p in observed), f"{what} orders {observed} from errors {errors}"
