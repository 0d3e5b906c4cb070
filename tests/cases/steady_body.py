"""A config of boxes and its steady state: surface temperatures and heat flows, computed from the field.

This does not use the program's own sums, nor the way it discretises the body. It assumes that the control volume of
each node in the air, or next to it, is of one material, and that surfaces lie halfway between two nodes.
"""

import pathlib
import re

import h5py
import numpy as np
from program import must

ROOT = pathlib.Path(__file__).resolve().parents[2]
NUMBER = r"(-?[\d.]+(?:e-?\d+)?)"


def numbers(text):
    return [float(n) for n in text.split(",")]


class Case:
    """A finished run: the last field [x][y][z], and the body as its config has it."""

    def __init__(self, directory, name, changes=()):
        config = (ROOT / "configs" / f"{name}.cfg").read_text()
        for old, new in changes:
            assert config.count(old) == 1, old
            config = config.replace(old, new)
        (directory / "case.cfg").write_text(config)
        must(directory, "run", "case.cfg", "--quiet")
        (file,) = (directory / "out").glob("*.h5")
        with h5py.File(file) as f:
            self.T = f["temperature"][-1].T
            self.axes = [f["xyz"[a]][...] for a in range(self.T.ndim)]
            self.status, self.distance = f.attrs["status"], f.attrs["steady_distance"]
        self.read(config)

    def read(self, config):
        told = re.findall(rf'name = "([^"]+)"; +conductivity = {NUMBER}', config)
        self.conductivity = {name: float(k) for name, k in told}
        references = re.findall(rf'name = "([^"]+)"[^}}]*reference = {NUMBER}', config)
        self.air = {name: float(T) for name, T in references}
        contacts = re.findall(rf'between = \["([^"]+)", "([^"]+)"\]; +resistance = {NUMBER}', config)
        self.resistance = {(one, other): float(R) for one, other, R in contacts}
        self.material = np.full(self.T.shape, "", dtype=object)
        body = re.findall(r'\{ material = "([^"]+)";(?: +shape = "box"; lower = \[(.*?)\]; +upper = \[(.*?)\];)? \}', config)
        assert len(body) == config.count("{ material =")
        for name, lower, upper in body:
            self.material[self.inside(lower, upper) if lower else ...] = name

    def inside(self, lower, upper):
        ranges = zip(self.axes, numbers(lower), numbers(upper))
        return np.ix_(*[(low <= axis) & (axis <= high) for axis, low, high in ranges])

    def at(self, *place):
        index = tuple(int(np.argmin(np.abs(axis - p))) for axis, p in zip(self.axes, place))
        assert np.allclose([axis[i] for axis, i in zip(self.axes, index)], place, atol=1e-12), "no node there"
        return self.T[index]

    def widths(self, axis):
        """The widths of the control volumes along the axis, from halfway to halfway."""
        ends = np.concatenate([self.axes[axis][:1], (self.axes[axis][1:] + self.axes[axis][:-1]) / 2, self.axes[axis][-1:]])
        return np.diff(ends)

    def area(self, axis):
        """The areas of the control volumes in a plane across the axis, in the order of the other axes."""
        others = [self.widths(a) for a in range(self.T.ndim) if a != axis]
        return others[0] if len(others) == 1 else np.outer(*others)

    def through_wall(self, axis, end, h, ambient):
        """The heat that leaves through a convecting face."""
        return (h * self.area(axis) * (np.take(self.T, end, axis) - ambient)).sum()

    def surface(self, air, solid, half):
        """The surface temperature between a node in the air and one in the solid, and the flux into the solid."""
        k = self.conductivity[self.material[solid]]
        R = self.resistance[self.material[air], self.material[solid]] + half / self.conductivity[self.material[air]]
        flux = (self.air[self.material[air]] - self.T[solid]) / (half / k + R)
        return self.T[solid] + flux * half / k, flux

    def from_air(self, name):
        """The heat that the air gives to the solids."""
        total = 0.0
        for axis in range(self.T.ndim):
            area, half = self.area(axis), np.diff(self.axes[axis]) / 2
            for air in np.argwhere(self.material == name):
                for step in (-1, 1):
                    solid = air.copy()
                    solid[axis] += step
                    if not 0 <= solid[axis] < self.T.shape[axis] or self.material[tuple(solid)] in self.air:
                        continue
                    _, flux = self.surface(tuple(air), tuple(solid), half[min(air[axis], solid[axis])])
                    total += flux * area[tuple(np.delete(air, axis))]
        return total

    def corner(self, place, into):
        """The temperature of a room's corner at `place`; `into` has the directions from the corner into the room.

        Each of the three surfaces that meet there gives a value, extrapolated from its temperatures at the four nearest
        nodes. Towards the corner temperatures fall more steeply than linearly, so all three values are too high and the
        lowest is best.
        """
        air = tuple(np.searchsorted(axis, p) - (step < 0) for axis, p, step in zip(self.axes, place, into))
        found = []
        for axis in range(3):
            others = [a for a in range(3) if a != axis]
            half = abs(self.axes[axis][air[axis]] - place[axis])

            def along(n, index):
                if n == 2:
                    return self.surface(index, move(index, axis, -into[axis]), half)[0]
                a, further = others[n], move(index, others[n], into[others[n]])
                near, far = along(n + 1, index), along(n + 1, further)
                away = [abs(self.axes[a][i[a]] - place[a]) for i in (index, further)]
                return near + (near - far) * away[0] / (away[1] - away[0])

            found.append(along(0, air))
        return min(found)


def move(index, axis, step):
    return tuple(i + step * (a == axis) for a, i in enumerate(index))
