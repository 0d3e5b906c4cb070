"""For all whole-run tests, however pytest is started."""

import atexit
import os
import pathlib
import shutil
import tempfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

os.environ.setdefault("HEATSOLVE", str(ROOT / "build" / "heatsolve"))
# Threads that wait spin otherwise, and on a machine with other work that costs 20 times a small run.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
# What somebody tuned on this machine is not for the tests to see, nor theirs for others.
os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(prefix="heatsolve-cache-")
atexit.register(shutil.rmtree, os.environ["XDG_CACHE_HOME"], ignore_errors=True)


@pytest.fixture(autouse=True)
def cleared(request):
    """What a test wrote goes when it has passed: all of them together write some GB."""
    path = request.getfixturevalue("tmp_path") if "tmp_path" in request.fixturenames else None
    failed = request.session.testsfailed
    yield
    if path and request.session.testsfailed == failed:
        shutil.rmtree(path, ignore_errors=True)
