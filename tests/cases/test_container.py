"""What a container allows, by files of our own over those of the control groups, in a name space of our own."""

import json
import os
import subprocess

import pytest

CONFIG = """
grid = { points = [64, 64, 64]; };
material = { diffusivity = 1.0; };
initial = { value = 1.0; };
time = { sweeps = 1; };
output = { file = "run.h5"; };
"""


def run(directory, files, *arguments, **environment):
    groups = directory / "cgroup"
    groups.mkdir()
    for name, text in files.items():
        (groups / name).write_text(text)
    (directory / "own").write_text("0::/\n")
    (directory / "case.cfg").write_text(CONFIG)
    script = 'mount --bind cgroup /sys/fs/cgroup && mount --bind own /proc/$$/cgroup || exit 99; exec "$@"'
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "GOMP_", "KMP_"))}
    command = ["unshare", "--mount", "sh", "-c", script, "sh", os.environ["HEATSOLVE"], "run", "case.cfg", "--quiet"]
    done = subprocess.run([*command, *arguments], cwd=directory, capture_output=True, text=True,
                          env={**clean, **environment})
    if done.returncode == 99 or "unshare" in done.stderr:
        pytest.skip("needs the right to mount over the control groups")
    return done


def test_a_case_that_never_fits_is_refused(tmp_path):
    done = run(tmp_path, {"memory.max": "1048576"})
    assert done.returncode == 4
    assert "case.cfg:2: grid.points" in done.stderr and "the container (/sys/fs/cgroup/memory.max)" in done.stderr
    assert not (tmp_path / "run.h5").exists()


def test_a_case_that_does_not_fit_now_is_refused(tmp_path):
    """4 MiB of fields; 10 are allowed and 8 in use."""
    done = run(tmp_path, {"memory.max": "10485760", "memory.current": "8388608"})
    assert done.returncode == 4
    assert "the container (/sys/fs/cgroup/memory.max) has 2097152 bytes" in done.stderr
    assert not (tmp_path / "run.h5").exists()


def test_a_case_that_fits_runs(tmp_path):
    done = run(tmp_path, {"memory.max": "104857600", "memory.current": "8388608"})
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("environment, threads", [({}, 1), ({"OMP_NUM_THREADS": "2"}, 2)])
def test_threads_are_no_more_than_the_processors_allowed(tmp_path, environment, threads):
    done = run(tmp_path, {"cpu.max": "100000 100000"}, "--json", **environment)
    assert done.returncode == 0, done.stderr
    assert int(json.loads(done.stdout)["device"].split()[0]) == threads
