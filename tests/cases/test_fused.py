"""A kernel that fuses sweeps gives the same bits as single sweeps: all snapshots, probes, and the history. The cases
have walls and sources that change, outputs that fall between fused sweeps, and grids that end within a tile."""


import h5py
import numpy as np
import pytest
from helpers import config
from program import columns, heatsolve

MIXED = {
    "x_min": {"type": "dirichlet", "value": "1 + 0.2*sin(40*t) + 0.1*y"},
    "x_max": {"type": "robin", "h": 3.0, "ambient": "2 + y*t"},
    "y_min": {"type": "neumann", "flux": "x - 30*t"},
    "y_max": {"type": "constant", "value": "1.5 + 0.3*x"},
    "z_min": {"type": "clamp"},
    "z_max": {"type": "dirichlet", "value": "x*y + cos(60*t)"},
}
ROLLED = {
    "x_min": {"type": "periodic"},
    "x_max": {"type": "periodic"},
    "y_min": {"type": "fixed"},
    "y_max": {"type": "reflective"},
    "z_min": {"type": "periodic"},
    "z_max": {"type": "periodic"},
}
ROUND = {f"{a}_{side}": {"type": "periodic"} for a in "yz" for side in ("min", "max")} | {
    "x_min": {"type": "dirichlet", "value": "sin(50*t) + z"},
    "x_max": {"type": "fixed"},
}

SOURCES = {
    "none": None,
    "of time": "20 + 300*sin(80*t)",
    "of space": "5*x - 3*y + z",
    "of both": "5*x + sin(60*t)*y",
}
POINTS = {1: [5003], 2: [1500, 43], 3: [51, 47, 29]}


def settings(dims, boundary, source, radius, precision, kernel):
    points = POINTS[dims]
    case = {
        "precision": precision,
        "grid": {"points": points, "lower": [0.0] * dims, "upper": [1.0 * n / max(points) for n in points]},
        "material": {"conductivity": 2.0, "density": 1.0, "specific_heat": 1.0},
        "stencil": {"radius": radius},
        "initial": {"expression": "1 + 0.3*sin(37*x) + 0.2*cos(23*y + 5*z)"},
        "boundary": {face: kind for face, kind in boundary.items() if face[0] in "xyz"[:dims]},
        # the output divides this into 3 + 7 + 7 + ... + 1 sweeps
        "time": {"sweeps": 29},
        "solver": {"backend": "cpu", "kernel": kernel, "threads": 3},
        "output": {"file": f"{kernel}.h5", "every": 7},
    }
    if source:
        case["source"] = {"expression": source}
    return case


def fields_of(directory, case, kernel):
    (directory / f"{kernel}.cfg").write_text(config(case))
    done = heatsolve(directory, "run", f"{kernel}.cfg", "--quiet", timeout=300)
    assert done.returncode == 0, done.stderr + config(case)
    with h5py.File(directory / f"{kernel}.h5") as f:
        assert f.attrs["kernel"] == kernel
        return f["temperature"][...], f["time"][...], columns(f["history"])


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("boundary", [MIXED, ROLLED, ROUND], ids=["mixed", "rolled", "round"])
@pytest.mark.parametrize("dims, radius", [(1, 1), (1, 3), (2, 1), (2, 2), (3, 1), (3, 2), (3, 3)])
def test_fusing_changes_no_bit_of_a_run(tmp_path, dims, radius, boundary, source):
    """The precision alternates: tests/kernels/ tests each kernel in both; this tests what happens between its calls."""
    turn = dims + radius + list(SOURCES).index(source) + (boundary is ROLLED)
    precision = ["double", "float"][turn % 2]
    results = []
    for kernel in ("openmp", "wavefront"):
        case = settings(dims, boundary, SOURCES[source], radius, precision, kernel)
        results.append(fields_of(tmp_path, case, kernel))
    (once, times, history), (fused, fused_times, fused_history) = results
    assert len(times) == 6 and np.array_equal(times, fused_times)
    assert not np.array_equal(once[0], once[-1])
    for step in range(len(times)):
        assert np.array_equal(once[step], fused[step]), f"snapshot {step}: {np.abs(once[step] - fused[step]).max()}"
    assert history.keys() == fused_history.keys()
    for name, column in history.items():
        assert np.array_equal(column, fused_history[name], equal_nan=True), name
