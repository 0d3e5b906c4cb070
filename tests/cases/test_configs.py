"""Every case in configs/ runs, passes its own check, and shows what its comment promises."""

import json
import os
import pathlib
import re
import subprocess
import time

import h5py
import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONFIGS = sorted((ROOT / "configs").rglob("*.cfg"))
HEATSOLVE = os.environ["HEATSOLVE"]
SANITIZED = "sanitize" in HEATSOLVE  # many times slower: times are not held to then


def names(path):
    return str(path.relative_to(ROOT / "configs"))


@pytest.fixture(scope="module")
def run_once(tmp_path_factory):
    """Runs a case at most once for all tests: (summary, path of its file, seconds)."""
    done = {}

    def run(name):
        if name not in done:
            directory = tmp_path_factory.mktemp(name.replace("/", "-"))
            started = time.monotonic()
            result = subprocess.run(
                [HEATSOLVE, "run", ROOT / "configs" / name, "--json"], cwd=directory, capture_output=True, text=True
            )
            seconds = time.monotonic() - started
            assert result.returncode == 0, result.stderr
            files = sorted(directory.rglob("*.h5"))
            assert len(files) == 1, files
            done[name] = json.loads(result.stdout), files[0], seconds
        return done[name]

    return run


@pytest.mark.parametrize("config", CONFIGS, ids=names)
def test_it_runs_and_passes_its_own_check(run_once, config):
    summary, file, seconds = run_once(names(config))
    with h5py.File(file) as f:
        temperature = f["temperature"]
        assert temperature.shape[0] >= 2
        assert np.isfinite(temperature[-1]).all()
    if not SANITIZED:
        assert seconds < 60  # the promise of the README; two cores


@pytest.mark.parametrize("config", CONFIGS, ids=names)
def test_it_explains_itself(config):
    lines = config.read_text().splitlines()
    comment = [line for line in lines[: lines.index("")] if line.startswith("//")]
    assert len(comment) >= 8
    assert any(re.search(r"heatsolve run configs/" + re.escape(names(config)), line) for line in comment)


def bounded():
    return [c for c in CONFIGS if "max_error" in c.read_text().split("\n\n", 1)[1]]


def test_most_cases_know_their_answer():
    kinds = {c.stem for c in bounded() if c.parent.name == "boundary"}
    assert kinds == {"fixed", "dirichlet", "neumann", "robin", "periodic", "reflective", "clamp", "constant"}


@pytest.mark.parametrize("config", bounded(), ids=names)
def test_its_check_can_fail(run_once, tmp_path, config):
    """A tenth of the error that was made is refused: the bound is compared with the real error."""
    summary, file, _ = run_once(names(config))
    with h5py.File(file) as f:
        error = f["history/max_error"][-1]
    if error == 0.0:
        pytest.skip("exact to the last bit: no smaller bound exists")
    result = subprocess.run(
        [HEATSOLVE, "run", config, "--quiet", "--set", f"exact.max_error={error / 10:.17g}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 1
    assert "max_error" in result.stderr
