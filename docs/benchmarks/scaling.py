"""Draws the picture of docs/performance/many-gpus.md: efficiency against the number of GPUs, measured and modelled.

usage: scaling.py SCALING.CSV PICTURE      (the CSV of tests/gpu/scaling.py; needs matplotlib)
"""

import csv
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

RADIUS, SWEEPS = 1, 4  # of a call of fused_march_3d
EMPTY, RATE = 15e-6, 370e9  # s, bytes/s: latency of an empty exchange and rate of a large one (model of the page)
CASES = [  # name, strong?, points along an axis, bytes of a value
    ("weak 512 float", False, 512, 4),
    ("weak 1024 double", False, 1024, 8),
    ("strong 1024 float", True, 1024, 4),
]


def model(strong, points, size, alone, gpus, hidden):
    """Efficiency on this many GPUs, if one alone makes `alone` points a second."""
    layers = points / (gpus if strong else 1)
    call = layers * points**2 * SWEEPS / alone
    halo = 2 * (SWEEPS - 1) * RADIUS
    exchange = EMPTY + min(gpus - 1, 2) * SWEEPS * RADIUS * points**2 * size / RATE
    return call / (call * (1 + halo / layers) + (0 if hidden else exchange))


def main(table, picture):
    with open(table) as file:
        rows = list(csv.DictReader(file))
    figure, axes = plt.subplots(1, len(CASES), figsize=(11, 3.6), sharey=True)
    for axis, (name, strong, points, size) in zip(axes, CASES):
        of = [row for row in rows if row["case"] == name]
        alone = next(float(row["points_per_second"]) for row in of if row["ranks"] == "1")
        for overlap, label, style in (("false", "plain", "C0"), ("true", "exchange beside the inside", "C1")):
            found = sorted((int(row["ranks"]), float(row["efficiency"])) for row in of if row["overlap"] == overlap)
            axis.plot(*zip((1, 1.0), *found), "o-", color=style, label=label)
            gpus = range(1, 9)
            modelled = [1.0 if n == 1 else model(strong, points, size, alone, n, overlap == "true") for n in gpus]
            axis.plot(gpus, modelled, ":", color=style, label=f"model: {label}")
        axis.set_title(name.replace("weak ", "weak, each GPU ").replace("strong ", "strong, ").replace("1024", "1024³").replace("512", "512³"))
        axis.set_xscale("log", base=2)
        axis.set_xticks([1, 2, 4, 8], ["1", "2", "4", "8"])
        axis.set_xlabel("GPUs")
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("efficiency")
    axes[0].set_ylim(0.7, 1.02)
    axes[1].legend(fontsize=7, loc="lower left")
    figure.tight_layout()
    figure.savefig(picture, metadata={"Software": None})


main(*sys.argv[1:])
