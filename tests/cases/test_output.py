"""What a run writes: datasets, numbers, attributes, history, probes, the summary."""

import json

import h5py
import numpy as np
import pytest
from program import heatsolve

AXES = "zyx"
POINTS = {1: [11], 2: [11, 9], 3: [11, 9, 7]}
LOWER = [0.5, -1.0, 2.0]
SPACING = [0.1, 0.2, 0.25]

CONFIG = """
title = "output \\"of\\" %(dims)dD, \u00fc";
precision = "%(precision)s";
grid = { points = %(points)s; lower = %(lower)s; spacing = %(spacing)s; };
material = { diffusivity = 1e-3; };
initial = { expression = "1 + x + 10*y*y + 100*z"; };
boundary = { all = { type = "reflective"; }; };
time = { end = 2.5; };
output = { file = "out.h5"; interval = 1.0; history_every = 1; compression = %(compression)d; };
probes = ( { name = "a"; at = %(at)s; } );
exact = { expression = "1 + x + 10*y*y + 100*z"; };
"""


def config_of(dims, precision="double", compression=0):
    return CONFIG % dict(
        dims=dims,
        precision=precision,
        points=POINTS[dims],
        lower=LOWER[:dims],
        spacing=SPACING[:dims],
        at=[low + 2.2 * h for low, h in zip(LOWER, SPACING)][:dims],
        compression=compression,
    )


def run(directory, text, *arguments):
    (directory / "case.cfg").write_text(text, encoding="utf-8")
    return heatsolve(directory, "run", "case.cfg", *arguments)


def initial(dims):
    x, y, z = [
        LOWER[a] + SPACING[a] * np.arange(POINTS[3][a]) if a < dims else np.zeros(1) for a in range(3)
    ]
    field = 1 + x[None, None, :] + 10 * y[None, :, None] ** 2 + 100 * z[:, None, None]
    return field.reshape(POINTS[dims][::-1])


@pytest.fixture(
    scope="module",
    params=[(1, "double", 0), (2, "float", 0), (3, "double", 0), (3, "float", 6), (2, "double", 9)],
    ids=lambda p: f"{p[0]}D {p[1]} {p[2]}",
)
def case(request, tmp_path_factory):
    directory = tmp_path_factory.mktemp("output")
    text = config_of(*request.param)
    result = run(directory, text, "--json")
    assert result.returncode == 0, result.stderr
    with h5py.File(directory / "out.h5") as f:
        yield request.param, f, json.loads(result.stdout), text


def test_temperature(case):
    (dims, precision, compression), f, _, _ = case
    T = f["temperature"]
    assert T.shape == (4, *POINTS[dims][::-1])  # t = 0, 1, 2 and 2.5
    assert T.dtype == {"double": np.float64, "float": np.float32}[precision]
    assert T.compression == ("gzip" if compression else None)
    # to the rounding of the type: the same expression, added up in another order
    assert np.allclose(T[0], initial(dims), rtol=4 * np.finfo(T.dtype).eps, atol=0)
    assert not np.array_equal(T[1], T[0]) and np.isfinite(T[:]).all()


def test_coordinates(case):
    (dims, _, _), f, _, _ = case
    names = ["time", *AXES[3 - dims :]]
    assert [d.keys()[0] for d in f["temperature"].dims] == names
    assert f["time"][:].tolist() == [0.0, 1.0, 2.0, 2.5]
    for axis, name in enumerate("xyz"[:dims]):
        expected = LOWER[axis] + SPACING[axis] * np.arange(POINTS[3][axis])
        assert np.allclose(f[name][:], expected, rtol=1e-15, atol=1e-15)
        assert f[name].attrs["units"] == "m" and f[name].attrs["long_name"]
    assert f["time"].attrs["units"] == "s"
    assert f["temperature"].attrs["units"] == "K"


def test_history(case):
    (dims, _, _), f, _, _ = case
    history = f["history"]
    sweeps = history["sweep"][:]
    assert sweeps.tolist() == list(range(f["sweep"][-1] + 1))
    shots = np.isin(sweeps, f["sweep"][:])
    assert np.array_equal(history["time"][:][shots], f["time"][:])
    for n, row in enumerate(np.flatnonzero(shots)):
        T = f["temperature"][n].astype(float)
        assert history["min"][row] == T.min() and history["max"][row] == T.max()
        error = np.abs(T - initial(dims))
        # both evaluate the expression, with additions in another order; values up to 500
        assert abs(history["max_error"][row] - error.max()) < 1e-12 * 500
        # reflective walls run through the nodes: edge nodes have half a cell
        w = np.ones(T.shape)
        for axis in range(T.ndim):
            edge = [slice(None)] * T.ndim
            for end in (0, -1):
                edge[axis] = end
                w[tuple(edge)] *= 0.5
        assert abs(history["mean"][row] - (w * T).sum() / w.sum()) < 1e-12 * 500
        assert abs(history["l2_error"][row] - np.sqrt((w * error**2).sum() / w.sum())) < 1e-12 * 500
    assert np.isnan(history["max_error"][:][~shots]).all()  # measured only at snapshots
    assert np.isnan(history["change"][0]) and (history["change"][1:] > 0).all()
    # insulated, so the heat content is constant to the rounding of the sums and, in float, of each sweep
    heat = history["heat"][:]
    assert np.allclose(heat, heat[0], rtol=1e-6 if f["temperature"].dtype == np.float32 else 1e-13)


def test_probes(case):
    (dims, _, _), f, _, _ = case
    probe = f["probes/a"]
    assert probe.attrs["node"].tolist() == [2] * dims
    assert np.allclose(probe.attrs["node_at"], [LOWER[a] + 2 * SPACING[a] for a in range(dims)])
    assert np.array_equal(f["probes/sweep"][:], f["history/sweep"][:])
    rows = np.isin(f["probes/sweep"][:], f["sweep"][:])
    here = f["temperature"][(slice(None), *[2] * dims)]
    assert np.array_equal(probe[:][rows], here.astype(float))


def test_attributes(case):
    (dims, precision, _), f, summary, text = case
    a = f.attrs
    assert a["title"] == f'output "of" {dims}D, \u00fc'
    assert a["config"].startswith(text)
    assert a["status"] == "finished" and a["finished"] == 1
    assert a["precision"] == precision and a["radius"] == 1
    assert len(a["coefficients"]) == 1 + 2 * dims
    assert abs(a["coefficients"].sum() - 1) < 1e-15 * 4  # a sum of up to 7 numbers
    assert a["sweeps"] == f["sweep"][-1] == summary["sweeps"]
    for key in ("version", "commit", "kernel", "backend", "device", "host", "started"):
        assert a[key]
    assert a["wall_seconds"] > 0 and a["step"] > 0


def test_summary(case):
    (dims, precision, _), f, s, _ = case
    T = f["temperature"][-1]
    assert s["status"] == "finished" and s["exit_code"] == 0
    assert s["title"] == f.attrs["title"]
    assert s["output"] == "out.h5" and s["snapshots"] == 4
    assert s["time"] == 2.5 and s["points"] == POINTS[dims] and s["precision"] == precision
    assert s["min"] == float(T.min()) and s["max"] == float(T.max())
    assert s["max_error"] == f["history/max_error"][-1]
    assert s["error_bound"] is None  # none was given
    assert s["gcells"] > 0 and s["seconds"] > 0 and s["reduction_seconds"] > 0


def test_the_command_of_the_summary_can_be_copied(tmp_path):
    done = run(tmp_path, config_of(1).replace("out.h5", "Läufe/my run.h5"))
    assert "view         heatsolve render 'Läufe/my run.h5' -o picture.png; ParaView: open Läufe/my run.xdmf\n" in done.stdout


def test_a_config_longer_than_a_header_can_hold(tmp_path):
    text = config_of(1) + "".join(f"// line {n} of a long story\n" for n in range(10000))
    assert run(tmp_path, text, "--quiet").returncode == 0
    with h5py.File(tmp_path / "out.h5") as f:
        assert f.attrs["config"].startswith(text)


def test_many_snapshots(tmp_path):
    """More snapshots than a node of the chunk index holds; and superseded tables of contents do not pile up."""
    text = config_of(1).replace("end = 2.5", "sweeps = 3000").replace("interval = 1.0", "every = 1")
    assert run(tmp_path, text, "--quiet").returncode == 0
    with h5py.File(tmp_path / "out.h5") as f:
        assert np.array_equal(f["sweep"][:], np.arange(3001))
        assert np.array_equal(f["history/max"][:], f["temperature"][:].max(axis=1))
        data = f["temperature"].size * 8
    assert (tmp_path / "out.h5").stat().st_size < data + 20e6  # 70 to 600 kB for each of a few tables of contents


def test_large_steps_are_cut(tmp_path):
    """Chunks have at most 32 MiB: 300^3 doubles take seven."""
    text = config_of(3).replace(str(POINTS[3]), "[300, 300, 300]").replace("end = 2.5", "sweeps = 1")
    text = text.replace("interval = 1.0; history_every = 1; ", "")
    assert run(tmp_path, text, "--quiet").returncode == 0
    with h5py.File(tmp_path / "out.h5") as f:
        T = f["temperature"]
        assert T.chunks == (1, 43, 300, 300)
        at = [0, 42, 43, 128, 129, 299]  # the planes where chunks meet
        x, y, z = [LOWER[a] + SPACING[a] * np.arange(300) for a in range(3)]
        for k in at:
            expected = 1 + x[None, :] + 10 * y[:, None] ** 2 + 100 * z[k]
            assert np.allclose(T[0, k], expected, rtol=4 * np.finfo(float).eps, atol=0)


def test_a_run_that_diverges_keeps_its_snapshots(tmp_path):
    text = config_of(1).replace("1 + x + 10*y*y + 100*z", "exp(t*1000)*(1+x)", 1)
    text = text.replace('all = { type = "reflective"; }', 'all = { type = "dirichlet"; value = "exp(1000*t)"; }')
    result = run(tmp_path, text, "--quiet")
    assert result.returncode == 1, result.stderr
    with h5py.File(tmp_path / "out.h5") as f:
        assert f.attrs["status"] == "diverged" and f.attrs["finished"] == 0
        assert f["temperature"].shape[0] >= 1 and np.isfinite(f["temperature"][:]).all()


def test_progress_in_a_log(tmp_path):
    result = run(tmp_path, config_of(2))
    *warnings, line = result.stderr.splitlines()
    assert len(warnings) == 2 and all(" a 2D grid has no z" in warning for warning in warnings) and "\r" not in result.stderr
    assert line.startswith("sweep ") and "t = 2.5 s" in line
    assert "output       out.h5, 4 snapshots" in result.stdout and "render" in result.stdout
