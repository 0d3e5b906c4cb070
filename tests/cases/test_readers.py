"""The programs with which people open runs find the right numbers, times, origin and spacing: xarray, ParaView, VTK."""

import json
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import time

import h5py
import numpy as np
import pytest
import xarray
from program import must, start

POINTS = [6, 5, 4]
LOWER = [0.5, -1.0, 2.0]
SPACING = [0.1, 0.2, 0.25]

CONFIG = """
title = "readers";
precision = "%(precision)s";
grid = { points = %(points)s; lower = %(lower)s; spacing = %(spacing)s; };
material = { diffusivity = 1e-3; };
initial = { expression = "1 + x + 10*y + 100*z"; };
boundary = { all = { type = "dirichlet"; value = "20 + t"; }; };
time = { end = %(end)s; };
output = { file = "run & 1.vtkhdf"; interval = 1.0; };
probes = ( { name = "a"; at = %(lower)s; } );
"""

# names that cause trouble for readers of XML, or for readers that expect only ASCII
CASES = {"1D": (1, "double", "run & 1.vtkhdf"), "2D": (2, "float", "ün.h5"), "3D": (3, "double", " a.h5"), "3D float": (3, "float", "b.h5")}


@pytest.fixture(scope="module", params=CASES)
def case(request, tmp_path_factory):
    dims, precision, name = CASES[request.param]
    directory = tmp_path_factory.mktemp("readers")
    (directory / "case.cfg").write_text(
        CONFIG.replace("run & 1.vtkhdf", name)
        % dict(precision=precision, points=POINTS[:dims], lower=LOWER[:dims], spacing=SPACING[:dims], end="2.5")
    )
    must(directory, "run", "case.cfg", "--quiet")
    return dims, directory / name


def test_xarray(case):
    dims, path = case
    with xarray.open_dataset(path, engine="h5netcdf") as d:
        T = d["temperature"]
        assert T.dims == ("time", *"zyx"[3 - dims :])
        assert T.attrs["units"] == "K" and d["time"].attrs["units"] == "s"
        assert d["time"].values.tolist() == [0.0, 1.0, 2.0, 2.5]
        assert d["sweep"].dims == ("time",)
        for axis, name in enumerate("xyz"[:dims]):
            assert np.allclose(d[name], LOWER[axis] + SPACING[axis] * np.arange(POINTS[axis]))
        inner = {name: POINTS[axis] // 2 for axis, name in enumerate("xyz"[:dims])}
        point = T.isel(time=0, **inner)
        expected = 1 + sum(10**axis * float(point[name]) for axis, name in enumerate("xyz"[:dims]))
        assert abs(float(point) - expected) < 1e-4  # rounding of a float of some hundreds
        with h5py.File(path) as f:
            assert np.array_equal(T.values, f["temperature"][:])
    for group in ("history", "probes"):
        with xarray.open_dataset(path, engine="h5netcdf", group=group) as d:
            assert all(d[name].dims == ("time",) for name in d.data_vars)
            assert d["time"].values.tolist() == [0.0, 1.0, 2.0, 2.5]


def extent(dims):
    """Nodes, origin, spacing and bounds, as VTK reports them."""
    nodes = POINTS[:dims] + [1] * (3 - dims)
    origin = LOWER[:dims] + [0.0] * (3 - dims)
    spacing = SPACING[:dims] + [1.0] * (3 - dims)
    upper = [o + (n - 1) * h for o, n, h in zip(origin, nodes, spacing)]
    return nodes, origin, spacing, [b for pair in zip(origin, upper) for b in pair]


def assert_right(dims, path, found):
    nodes, origin, spacing, bounds = extent(dims)
    with h5py.File(path) as f:
        T = f["temperature"][:]
        times = f["time"][:]
    assert found["times"] == times.tolist()
    assert len(found["steps"]) == len(times)
    for step, field in zip(found["steps"], T):
        assert step["dimensions"] == nodes
        assert np.allclose(step["origin"], origin) and np.allclose(step["spacing"], spacing)
        assert np.allclose(step["bounds"], bounds)
        assert step["values"] == field.ravel().astype(float).tolist()


# ---- stretched grids

PLACES = [[0.5, 0.6, 0.8, 1.2, 2.0, 3.6], [-1.0, -0.9, -0.6, 0.3, 3.0], [2.0, 2.25, 3.0, 5.25]]


@pytest.fixture(scope="module", params=[1, 2, 3])
def stretched(request, tmp_path_factory):
    dims = request.param
    directory = tmp_path_factory.mktemp("stretched")
    text = CONFIG % dict(precision="double", points=POINTS[:dims], lower=LOWER[:dims], spacing=SPACING[:dims], end="2.5")
    axes = " ".join(f"{name} = {places};" for name, places in zip("xyz", PLACES[:dims]))
    lines = [f"grid = {{ {axes} }};" if line.startswith("grid") else line for line in text.splitlines()]
    (directory / "case.cfg").write_text("\n".join(lines))
    must(directory, "run", "case.cfg", "--quiet")
    return dims, directory / "run & 1.vtkhdf"


def test_scales_of_a_stretched_grid(stretched):
    dims, path = stretched
    with h5py.File(path) as f, xarray.open_dataset(path, engine="h5netcdf") as d:
        T = d["temperature"]
        assert T.dims == ("time", *"zyx"[3 - dims :])
        for axis, name in enumerate("xyz"[:dims]):
            assert f[name][:].tolist() == PLACES[axis] == d[name].values.tolist()
            assert f["temperature"].dims[dims - axis][0] == f[name]
        expected = 1 + sum(10**axis * d[name] for axis, name in enumerate("xyz"[:dims]))
        inner = {name: slice(1, -1) for name in "xyz"[:dims]}
        assert np.allclose(T.isel(time=0, **inner), expected.transpose(*"zyx"[3 - dims :]).isel(**inner))


def assert_rectilinear(dims, path, found):
    with h5py.File(path) as f:
        T, times = f["temperature"][:], f["time"][:]
    assert found["times"] == times.tolist() and len(found["steps"]) == len(times)
    for step, field in zip(found["steps"], T):
        assert step["coordinates"] == [PLACES[axis] if axis < dims else [0.0] for axis in range(3)]
        assert step["values"] == field.ravel().tolist()


PARAVIEW_RECTILINEAR = """
import json, sys
from paraview.simple import XDMFReader, Xdmf3ReaderS, Xdmf3ReaderT

def seen(reader):
    reader.UpdatePipelineInformation()
    out = {"times": list(reader.TimestepValues), "steps": []}
    for t in out["times"]:
        reader.UpdatePipeline(t)
        # not by Fetch, which mixes up the coordinates in ParaView 5.11
        data = reader.SMProxy.GetClientSideObject().GetOutputDataObject(0)
        while data.IsA("vtkMultiBlockDataSet"):
            data = data.GetBlock(0)
        places = [data.GetXCoordinates(), data.GetYCoordinates(), data.GetZCoordinates()]
        values = data.GetPointData().GetArray("temperature")
        out["steps"].append({
            "coordinates": [[c.GetValue(i) for i in range(c.GetNumberOfTuples())] for c in places],
            "values": [values.GetValue(i) for i in range(values.GetNumberOfTuples())]})
    return out

name = sys.argv[1]
json.dump({"XDMF Reader": seen(XDMFReader(FileNames=[name])), "Xdmf3 Reader S": seen(Xdmf3ReaderS(FileName=[name])),
           "Xdmf3 Reader T": seen(Xdmf3ReaderT(FileName=[name]))}, open(sys.argv[2], "w"))
"""


@pytest.mark.skipif(not shutil.which("pvpython"), reason="ParaView is not installed (.ci/setup paraview)")
def test_paraview_sees_stretched_grids(stretched, tmp_path):
    dims, path = stretched
    for found in paraview_sees(PARAVIEW_RECTILINEAR, path, tmp_path).values():
        assert_rectilinear(dims, path, found)


def test_vtkhdf_of_a_stretched_grid(stretched):
    """With VTK 9.7, the first version that reads rectilinear grids."""
    vtk((9, 7))
    from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline
    from vtkmodules.vtkIOHDF import vtkHDFReader

    dims, path = stretched
    reader = vtkHDFReader()
    reader.SetFileName(str(path))
    assert reader.CanReadFile(str(path))
    reader.UpdateInformation()
    found = {"times": list(reader.GetOutputInformation(0).Get(vtkStreamingDemandDrivenPipeline.TIME_STEPS())), "steps": []}
    for step in range(len(found["times"])):
        reader.SetStep(step)
        reader.Update()
        data = reader.GetOutput()
        places = [data.GetXCoordinates(), data.GetYCoordinates(), data.GetZCoordinates()]
        values = data.GetPointData().GetArray("temperature")
        found["steps"].append({
            "coordinates": [[c.GetValue(i) for i in range(c.GetNumberOfTuples())] for c in places],
            "values": [values.GetValue(i) for i in range(values.GetNumberOfTuples())],
        })
    assert_rectilinear(dims, path, found)


def test_vtkhdf_layout_of_a_stretched_grid(stretched):
    """The layout that vtkHDFWriter 9.7 gives a rectilinear grid."""
    dims, path = stretched
    with h5py.File(path) as f:
        g = f["VTKHDF"]
        assert g.attrs["Version"].tolist() == [2, 7] and g.attrs["Type"] == b"RectilinearGrid"
        assert g.attrs.get_id("Type").get_type().get_size() == 15
        assert g.attrs["Dimensions"].tolist() == POINTS[:dims] + [1] * (3 - dims)
        assert g["PointData/temperature"] == f["temperature"]
        for axis, name in enumerate("xyz"):
            assert g[f"{name.upper()}Coordinates"][:].tolist() == (PLACES[axis] if axis < dims else [0.0])
            assert g[f"Steps/{name.upper()}CoordinatesOffsets"][:].tolist() == [0, 0, 0, 0]
        assert "Spacing" not in g.attrs


# ---- ParaView and VTK

PARAVIEW = """
import json, sys
from paraview.simple import XDMFReader, Xdmf3ReaderS, Xdmf3ReaderT, servermanager

def seen(reader):
    reader.UpdatePipelineInformation()
    out = {"times": list(reader.TimestepValues), "steps": []}
    for t in out["times"]:
        reader.UpdatePipeline(t)
        data = servermanager.Fetch(reader)
        while data.IsA("vtkMultiBlockDataSet"):
            data = data.GetBlock(0)
        values = data.GetPointData().GetArray("temperature")
        out["steps"].append({
            "dimensions": list(data.GetDimensions()), "origin": list(data.GetOrigin()),
            "spacing": list(data.GetSpacing()), "bounds": list(data.GetBounds()),
            "values": [values.GetValue(i) for i in range(values.GetNumberOfTuples())]})
    return out

name = sys.argv[1]
json.dump({"XDMF Reader": seen(XDMFReader(FileNames=[name])), "Xdmf3 Reader S": seen(Xdmf3ReaderS(FileName=[name])),
           "Xdmf3 Reader T": seen(Xdmf3ReaderT(FileName=[name]))}, open(sys.argv[2], "w"))
"""


def paraview_sees(script, path, tmp_path):
    (tmp_path / "look.py").write_text(script)
    told = subprocess.run(
        ["timeout", "180", "pvpython", tmp_path / "look.py", path.with_name(path.name.removesuffix(".h5") + ".xdmf"), tmp_path / "found.json"],
        check=True,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
    )
    assert "Skipping unrecognized" not in told.stdout + told.stderr
    return json.loads((tmp_path / "found.json").read_text())


@pytest.mark.skipif(not shutil.which("pvpython"), reason="ParaView is not installed (.ci/setup paraview)")
def test_paraview(case, tmp_path):
    """The three readers that ParaView 5.11 offers for an .xdmf."""
    dims, path = case
    for found in paraview_sees(PARAVIEW, path, tmp_path).values():
        assert_right(dims, path, found)


def vtk_sees(path):
    from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline
    from vtkmodules.vtkIOHDF import vtkHDFReader

    reader = vtkHDFReader()
    reader.SetFileName(str(path))
    assert reader.CanReadFile(str(path))
    reader.UpdateInformation()
    times = reader.GetOutputInformation(0).Get(vtkStreamingDemandDrivenPipeline.TIME_STEPS())
    out = {"times": list(times or []), "steps": []}
    for step in range(max(1, len(out["times"]))):
        reader.SetStep(step)
        reader.Update()
        data = reader.GetOutput()
        values = data.GetPointData().GetArray("temperature")
        out["steps"].append(
            {
                "dimensions": list(data.GetDimensions()),
                "origin": list(data.GetOrigin()),
                "spacing": list(data.GetSpacing()),
                "bounds": list(data.GetBounds()),
                "values": [values.GetValue(i) for i in range(values.GetNumberOfTuples())],
            }
        )
    return out


def vtk(least=(9, 3)):
    """Makes VTK importable, as fetched by .ci/vtk or as installed; skips older versions. 9.3 is the first that reads
    series of images from /VTKHDF."""
    fetched = pathlib.Path(os.environ.get("BUILD", "build"), "vtk")
    if fetched.is_dir() and str(fetched) not in sys.path:
        sys.path.insert(0, str(fetched))  # only here: ParaView has its own VTK
    module = pytest.importorskip("vtkmodules.vtkCommonCore", reason="VTK for Python is not installed (.ci/vtk build/vtk)")
    version = module.vtkVersion.GetVTKVersion()
    if tuple(int(n) for n in version.split(".")[:2]) < least:
        pytest.skip(f"VTK {version} does not read such files")
    pytest.importorskip("vtkmodules.vtkIOHDF")


def test_vtkhdf(case):
    vtk()
    dims, path = case
    assert_right(dims, path, vtk_sees(path))


def test_vtkhdf_of_a_single_snapshot(tmp_path):
    vtk()
    text = CONFIG % dict(precision="double", points=POINTS, lower=LOWER, spacing=SPACING, end="1")
    (tmp_path / "case.cfg").write_text(text.replace("end = 1;", "sweeps = 0;").replace(" interval = 1.0;", ""))
    must(tmp_path, "run", "case.cfg", "--quiet")
    path = tmp_path / "run & 1.vtkhdf"
    found = vtk_sees(path)
    found["times"] = [0.0]  # not a series, so VTK reports no time
    assert_right(3, path, found)


def layout(path):
    """The facts of the format that a reader of /VTKHDF requires."""
    with h5py.File(path) as f:
        g = f["VTKHDF"]
        kind = g.attrs.get_id("Type")
        return dict(
            version=g.attrs["Version"].tolist(),
            type=g.attrs["Type"],
            type_size=kind.get_type().get_size(),
            variable=kind.get_type().is_variable_str(),
            extent=g.attrs["WholeExtent"].tolist(),
            same=g["PointData/temperature"] == f["temperature"],
            steps=g["Steps"].attrs["NSteps"],
            values=g["Steps/Values"][:].tolist(),
            offsets=g["Steps/PointDataOffsets/temperature"][:].tolist(),
        )


def test_vtkhdf_layout(case):
    dims, path = case
    nodes, _, _, _ = extent(dims)
    assert layout(path) == dict(
        version=[2, 0],
        type=b"ImageData",
        type_size=9,
        variable=False,
        extent=[b for n in nodes for b in (0, n - 1)],
        same=True,
        steps=4,
        values=[0.0, 1.0, 2.0, 2.5],
        offsets=[0, 1, 2, 3],
    )


def test_a_live_file_can_be_read(tmp_path):
    """No lock keeps readers out while the run goes on."""
    # tens of sweeps between snapshots, and so many that the run outlasts three reads on any machine: 2 GB at the end
    text = CONFIG % dict(precision="double", points=[30] * 3, lower=LOWER, spacing=[0.01] * 3, end="10000.0")
    (tmp_path / "case.cfg").write_text(text)
    process = start(tmp_path, "run", "case.cfg", "--quiet", stderr=None)
    path = tmp_path / "run & 1.vtkhdf"
    try:
        seen = set()
        environment = {k: v for k, v in os.environ.items() if k != "HDF5_USE_FILE_LOCKING"}
        look = "import h5py, sys; f = h5py.File(sys.argv[1]); f['temperature'][-1]; print(len(f['time']))"
        while process.poll() is None and len(seen) < 3:
            if path.exists():
                result = subprocess.run(
                    [sys.executable, "-c", look, path], env=environment, capture_output=True, text=True
                )
                assert result.returncode == 0, result.stderr
                seen.add(int(result.stdout))
        assert len(seen) == 3  # it has grown each time
    finally:
        process.kill()
        process.wait()


class Late:
    """Its length is read when it is opened, as HDF5's drivers do, and its contents after the next commit."""

    def __init__(self, path):
        self.file = open(path, "rb", buffering=0)
        self.length = os.fstat(self.file.fileno()).st_size
        self.superblock = self.file.read(96)
        self.place = 0

    def seek(self, place, whence=os.SEEK_SET):
        self.place = place + (self.length if whence == os.SEEK_END else 0)
        return self.place

    def tell(self):
        return self.place

    def read(self, count):
        raise NotImplementedError  # h5py requires it of a file, but calls readinto

    def readinto(self, buffer):
        while os.pread(self.file.fileno(), 96, 0) == self.superblock:
            time.sleep(0.001)
        data = os.pread(self.file.fileno(), len(buffer), self.place)
        buffer[: len(data)] = data
        return len(data)


def test_a_commit_while_a_reader_opens(tmp_path):
    """While the run goes on the file is longer than its superblock says; at the end the two agree."""
    # thousands of sweeps between snapshots: a commit writes less than the file's excess length
    text = CONFIG.replace("interval = 1.0", "interval = 150.0")
    text %= dict(precision="double", points=[20] * 3, lower=LOWER, spacing=[0.01] * 3, end="2e6")
    (tmp_path / "case.cfg").write_text(text)
    process = start(tmp_path, "run", "case.cfg", "--quiet", stderr=None)
    path = tmp_path / "run & 1.vtkhdf"
    try:
        while not path.exists():
            assert process.poll() is None
            time.sleep(0.001)
        for _ in range(5):
            with h5py.File(Late(path), "r") as f:
                f["temperature"][-1]
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
    with h5py.File(path) as f:
        f["temperature"][-1]
        assert f.id.get_filesize() == path.stat().st_size == struct.unpack("<q", path.read_bytes()[40:48])[0]
