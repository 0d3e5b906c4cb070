#!/usr/bin/env python3
"""Writes restart.h5 beside this script: the initial field of configs/restart.cfg.

The field is three cosine modes on a mean of 300 K, on 97 x 97 nodes of the unit square.
"""

import pathlib

import h5py
import numpy as np

n = 97
x = np.linspace(0.0, 1.0, n)
y = x[:, None]  # [y][x]
temperature = (
    300.0
    + 10.0 * np.cos(np.pi * x)
    + 5.0 * np.cos(2.0 * np.pi * x) * np.cos(np.pi * y)
    + 3.0 * np.cos(4.0 * np.pi * y)
)

with h5py.File(pathlib.Path(__file__).with_name("restart.h5"), "w", libver="earliest") as file:
    dataset = file.create_dataset("temperature", data=temperature, track_times=False)
    dataset.attrs["units"] = "K"
    dataset.attrs["long_name"] = "temperature"
