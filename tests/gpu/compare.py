"""usage: compare.py CPU.h5 CUDA.h5

Compares the snapshots of two runs of one config. They must have the same bits, except where an expression with sin, exp
or the like is evaluated on the device, which rounds these functions differently in the last places. There the runs may
differ by 1e-12 (double) or 1e-5 (float) of the largest value, some thousand roundings, and the printed line says so.
"""
import sys

import h5py
import numpy as np

LIMIT = {np.dtype("f4"): 1e-5, np.dtype("f8"): 1e-12}


def main(cpu, cuda):
    with h5py.File(cpu) as a, h5py.File(cuda) as b:
        x, y = a["temperature"], b["temperature"]
        if x.shape != y.shape or x.dtype != y.dtype:
            print(f"{cuda}: {y.shape} {y.dtype}, expected {x.shape} {x.dtype}")
            return 1
        worst = largest = 0.0
        same = True
        for step in range(x.shape[0]):
            p, q = x[step], y[step]
            same = same and np.array_equal(p, q)
            worst = max(worst, float(np.max(np.abs(p.astype("f8") - q.astype("f8")))))
            largest = max(largest, float(np.max(np.abs(p))))
        limit = LIMIT[x.dtype] * largest
        print(f"{cuda}: {x.shape[0]} snapshots, " + ("the same bits" if same else f"apart by {worst:.3g} of {largest:.6g}"))
        return 0 if worst <= limit else 1


sys.exit(main(*sys.argv[1:]))
