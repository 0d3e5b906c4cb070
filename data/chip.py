#!/usr/bin/env python3
"""Writes chip-power.npy beside this script: the power map of configs/chip.cfg.

What the face z_min puts into each square metre of the chip [W/m^2], at its 41 x 41 nodes, 1 mm apart, as
power[y, x]: a die of 10 x 10 mm in the middle with 20 W spread over it, and two cores of 3 x 3 mm with 20 W each.
"""

import pathlib

import numpy as np

n, spacing = 41, 1e-3
x = np.arange(n) * spacing
y = x[:, None]


def block(watts, left, bottom, width):
    """Spread evenly over the nodes of a square."""
    inside = (abs(x - left - width / 2) < width / 2) & (abs(y - bottom - width / 2) < width / 2)
    return watts * inside / (inside.sum() * spacing**2)


power = block(20.0, 15e-3, 15e-3, 10e-3) + block(20.0, 16e-3, 16e-3, 3e-3) + block(20.0, 20e-3, 21e-3, 3e-3)
np.save(pathlib.Path(__file__).with_name("chip-power.npy"), power)
