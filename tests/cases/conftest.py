"""Settings for all whole-run tests, however pytest is started."""

import atexit
import os
import pathlib
import shutil
import tempfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

os.environ.setdefault("HEATSOLVE", str(ROOT / "build" / "heatsolve"))
# By default waiting threads spin; on a machine with other work a small run then takes 20 times as long.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
# Tests must not see what was tuned on this machine, and must not leave their own results to others.
os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(prefix="heatsolve-cache-")
atexit.register(shutil.rmtree, os.environ["XDG_CACHE_HOME"], ignore_errors=True)


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    """tests/tools/fault.c, to be preloaded."""
    import faults  # needs the settings above

    return faults.build(tmp_path_factory.mktemp("fault"))


@pytest.fixture(autouse=True)
def cleared(request):
    """Removes the files of a test that has passed: together the tests write some GB."""
    path = request.getfixturevalue("tmp_path") if "tmp_path" in request.fixturenames else None
    failed = request.session.testsfailed
    yield
    if path and request.session.testsfailed == failed:
        shutil.rmtree(path, ignore_errors=True)
