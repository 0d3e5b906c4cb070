"""Fields from NumPy's .npy files: the same bits as from HDF5, for every type, order and name."""


import h5py
import numpy as np
import pytest
from program import heatsolve, must

CONFIG = """
grid = { points = [9, 7, 5]; upper = [0.8, 0.6, 0.4]; };
material = { diffusivity = 1e-3; };
initial = { file = "%s"; %s };
boundary = { all = { type = "reflective"; }; };
time = { sweeps = 3; };
output = { file = "out.h5"; };
"""


def field():
    """Whole numbers that every type can hold, in random order."""
    return np.random.default_rng(1).permutation(5 * 7 * 9).reshape(5, 7, 9) % 128


def run(folder, name, more=""):
    (folder / "case.cfg").write_text(CONFIG % (name, more))
    (folder / "out.h5").unlink(missing_ok=True)
    must(folder, "run", "case.cfg", "--quiet")
    with h5py.File(folder / "out.h5") as f:
        return f["temperature"][:]


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hdf5")
    with h5py.File(folder / "in.h5", "w") as f:
        f["temperature"] = field().astype("f8")
    found = run(folder, "in.h5")
    assert np.array_equal(found[0], field()) and not np.array_equal(found[-1], found[0])
    return found


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("kind", ["<f8", ">f8", "<f4", ">f4", "<i8", ">i4", "<i2", "|u1", ">u2", "|i1"])
def test_every_type_and_order(tmp_path, expected, kind, order):
    np.save(tmp_path / "in.npy", np.array(field(), dtype=kind, order=order))
    assert np.array_equal(run(tmp_path, "in.npy"), expected)


@pytest.mark.parametrize("kind", ["bool", "enum", ">enum"])
def test_bool_and_other_enumerations_are_their_numbers(tmp_path, kind):
    """h5py writes bool as an enumeration of one byte; NumPy as a type of its own, which is read too."""
    values = field() % 2 if kind == "bool" else field()
    enum = h5py.enum_dtype({f"m{n}": n for n in range(128)}, basetype=">i2" if ">" in kind else "u1")
    data, of = (values.astype(bool), None) if kind == "bool" else (values, enum)
    with h5py.File(tmp_path / "in.h5", "w") as f:
        f.create_dataset("temperature", data=data, dtype=of)
    np.save(tmp_path / "in.npy", data)
    found = run(tmp_path, "in.h5")
    assert np.array_equal(found[0], values) and np.array_equal(run(tmp_path, "in.npy"), found)


@pytest.mark.parametrize("name", ["label.h5", "label.npy"])
def test_labels_may_be_bool(tmp_path, name):
    label = field()[:-1, :-1, :-1] > 64
    with h5py.File(tmp_path / "label.h5", "w") as f:
        f["label"] = label
    np.save(tmp_path / "label.npy", label)
    materials = 'materials = ( { name = "a"; diffusivity = 1e-3; }, { name = "b"; diffusivity = 2e-3; } );'
    body = f'body = ( {{ file = "{name}"; names = ["a", "b"]; }} );'
    text = CONFIG.replace("material = { diffusivity = 1e-3; };", materials + body).replace('file = "%s"; %s', "value = 1.0;")
    (tmp_path / "case.cfg").write_text(text)
    must(tmp_path, "run", "case.cfg", "--quiet")
    with h5py.File(tmp_path / "out.h5") as f:
        assert np.array_equal(f["body/labels"][:], label)


def test_float16_is_refused_with_the_remedy(tmp_path):
    np.save(tmp_path / "in.npy", field().astype("f2"))
    (tmp_path / "case.cfg").write_text(CONFIG % ("in.npy", ""))
    done = heatsolve(tmp_path, "run", "case.cfg")
    assert done.returncode == 2 and 'type <f2; float64, float32, integers and bool are read: save array.astype("float64")' in done.stderr


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_every_version(tmp_path, expected, version):
    with open(tmp_path / "in.npy", "wb") as f:
        np.lib.format.write_array(f, field().astype("f8"), version=version)
    assert np.array_equal(run(tmp_path, "in.npy"), expected)


@pytest.mark.parametrize("order", "CF")
def test_one_of_the_steps(tmp_path, expected, order):
    steps = np.array([field() + 1, field(), field() + 2], dtype="f4", order=order)
    np.save(tmp_path / "in.npy", steps)
    assert np.array_equal(run(tmp_path, "in.npy", "step = 1;"), expected)
    assert np.array_equal(run(tmp_path, "in.npy")[0], field() + 2)


def test_the_content_tells_and_not_the_name(tmp_path, expected):
    np.save(tmp_path / "in.npy", field())
    (tmp_path / "in.npy").rename(tmp_path / "really-npy.h5")
    assert np.array_equal(run(tmp_path, "really-npy.h5"), expected)
    with h5py.File(tmp_path / "really-hdf5.npy", "w") as f:
        f["temperature"] = field()
    assert np.array_equal(run(tmp_path, "really-hdf5.npy"), expected)


def test_a_snapshot_saved_by_numpy_is_a_start(tmp_path, expected):
    """A restart through numpy: the last state of a run is saved and read."""
    np.save(tmp_path / "last.npy", expected[-1])
    assert np.array_equal(run(tmp_path, "last.npy")[0], expected[-1])


def test_what_was_looked_at_is_what_is_read(tmp_path, expected, monkeypatch):
    """HDF5, which reads the numbers, looks for relative names in the folder of HDF5_EXTFILE_PREFIX."""
    (tmp_path / "other").mkdir()
    np.save(tmp_path / "in.npy", field().astype("f8"))
    np.save(tmp_path / "other/in.npy", field().astype("f8") + 1.0)
    monkeypatch.setenv("HDF5_EXTFILE_PREFIX", str(tmp_path / "other"))
    assert np.array_equal(run(tmp_path, "in.npy"), expected)


@pytest.mark.parametrize("name", ["in.npy", "really-npy.h5"])
def test_a_dataset_beside_a_npy_file_is_refused(tmp_path, name):
    np.save(tmp_path / "in.npy", field().astype("f8"))
    (tmp_path / "in.npy").rename(tmp_path / name)
    (tmp_path / "case.cfg").write_text(CONFIG % (name, 'dataset = "T";'))
    result = heatsolve(tmp_path, "run", "case.cfg")
    assert result.returncode == 2
    assert f'case.cfg:4: initial.dataset = "T": {name} is a .npy file, which has one array and no datasets; remove this' in result.stderr
    assert not (tmp_path / "out.h5").exists()
