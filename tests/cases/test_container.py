"""The limits of a container, by files mounted over those of the control groups, in a name space of our own."""

import json
import os
import re
import subprocess

import pytest
from program import HEATSOLVE

CONFIG = """
grid = { points = [64, 64, 64]; };
material = { diffusivity = 1.0; };
initial = { value = 1.0; };
time = { sweeps = 1; };
solver = { backend = "cpu"; };
output = { file = "run.h5"; overwrite = true; };
"""


def run(directory, files, *arguments, command="run", config="case.cfg", **environment):
    groups = directory / "cgroup"
    groups.mkdir(exist_ok=True)
    for name, text in files.items():
        (groups / name).write_text(text)
    (directory / "own").write_text("0::/\n")
    (directory / "case.cfg").write_text(CONFIG)
    script = 'mount --bind cgroup /sys/fs/cgroup && mount --bind own /proc/$$/cgroup || exit 99; exec "$@"'
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "GOMP_", "KMP_"))}
    ours = [HEATSOLVE, command, config, *(["--quiet"] if command == "run" else [])]
    done = subprocess.run(["unshare", "--mount", "sh", "-c", script, "sh", *ours, *arguments], cwd=directory, capture_output=True, text=True,
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
    """The fields take 4 MiB; 10 are allowed and 8 in use."""
    done = run(tmp_path, {"memory.max": "10485760", "memory.current": "8388608"})
    assert done.returncode == 4
    assert "the container (/sys/fs/cgroup/memory.max) has 2097152 bytes" in done.stderr
    assert not (tmp_path / "run.h5").exists()


def points(text, x):
    """Arguments for the grid that a message names, longer along x by `x` points (by that share if x is no integer)."""
    nx, *others = re.search(r"the largest grid of these proportions that fits is ([\dx ]+)$", text.strip()).group(1).split(" x ")
    more = x if isinstance(x, int) else int(int(nx) * x)
    return ["--set", f"grid.points=[{', '.join([str(int(nx) + more), *others])}]"]


@pytest.mark.parametrize("more", [[], ["--set", 'source.expression="x*t"'], ["--set", 'boundary.z_max={type="dirichlet";value="x*y*t";}']])
def test_the_largest_grid_that_fits_now_is_the_one_that_is_named(tmp_path, more):
    """Exact to a point: the message's need is the number that is compared with the free memory."""
    files = {"memory.max": "70000000", "memory.current": "60000000"}
    kernel = ["--set", 'solver.kernel="openmp"', *more]
    asked = ["--set", "grid.points=[640, 20, 300]", *kernel]
    said = run(tmp_path, files, *asked)
    assert said.returncode == 4 and "640 x 20 x 300 points in double precision need" in said.stderr
    assert run(tmp_path, files, *kernel, *points(said.stderr, 0)).returncode == 0
    assert run(tmp_path, files, *kernel, *points(said.stderr, 20)).returncode == 4


@pytest.mark.parametrize("more", [[], ["--set", 'source.expression="x*t"'], ["--set", 'precision="float"']])
def test_a_grid_that_fits_is_named_for_one_that_never_does(tmp_path, more):
    """The grid leaves room for what kernels keep for two threads, on any machine: up to a quarter, depending on a core's
    L2, and a sixteenth for walls. So a grid larger by half does not fit: 1.5 * 3/4 * 15/16 > 1. If L2 is 1 MiB or less
    the allowance is less than what kernels keep, and even 40 more points do not fit."""
    cache = int(subprocess.run(["getconf", "LEVEL2_CACHE_SIZE"], capture_output=True, text=True).stdout or 0)
    more_points = 40 if cache <= 1 << 20 else 0.5
    files = {"memory.max": "70000000", "memory.current": "30000000", "cpu.max": "200000 100000"}
    said = run(tmp_path, files, "--set", "grid.points=[2000, 500, 1000]", *more)
    assert said.returncode == 4 and "--set: grid.points: 2000 x 500 x 1000 nodes in" in said.stderr
    assert "has 70000000 (0.07 GiB), 40000000 (0.04 GiB) of them free; give fewer points" in said.stderr
    assert ("or precision" in said.stderr) == ("float" not in str(more))
    assert run(tmp_path, files, *more, *points(said.stderr, 0)).returncode == 0
    assert run(tmp_path, files, *more, *points(said.stderr, more_points)).returncode == 4


@pytest.mark.parametrize("x", ["{to=1.0; cells=2000000; ratio=1.000001;}", "{to=1.0; cells=1000000;}, {to=9.0; cells=1000000; ratio=0.999999;}"])
def test_a_stretched_axis_is_refused_by_its_count(tmp_path, x):
    """Cells that all differ take 48 bytes a node for their equations: 96 MB, besides 32 of fields and 16 of coordinates.
    So nothing need be computed to refuse them, and the grid that is named fits."""
    stretched = ["--set", f"grid={{x={{segments=({x});}};}}", "--set", "time.sweeps=0"]
    said = run(tmp_path, {"memory.max": "130000000", "memory.current": "0"}, *stretched, command="check")
    assert said.returncode == 4 and "--set: grid: 2000001 nodes in double need at least 144000072 bytes" in said.stderr
    fits = int(re.search(r"that fits is (\d+)$", said.stderr.strip()).group(1))
    named = [text.replace("2000000", str(fits - 1)).replace("1000000;", f"{(fits - 1) // 2};") for text in stretched]
    assert run(tmp_path, {"memory.max": "130000000", "memory.current": "0"}, *named, command="check").returncode == 0
    even = [text.replace("; ratio=1.000001", "").replace("; ratio=0.999999", "") for text in stretched]
    said = run(tmp_path, {"memory.max": "130000000", "memory.current": "0"}, *even, command="check")
    assert said.returncode == 0, said.stderr


@pytest.mark.parametrize("command", ["run", "check"])
@pytest.mark.parametrize(
    "name, method",
    [
        ("implicit", ["--set", 'time={end=2.0;step=1.0;method="implicit";}']),
        ("rkl2", ["--set", 'time={end=2.0;step=1.0;method="rkl2";}']),
        ("multigrid", ["--set", 'time={safety=0.9;}', "--set", 'steady={tolerance=1e-6;method="multigrid";}', "--set", 'boundary.all={type="dirichlet";value=2.0;}']),
    ],
)
def test_a_method_that_does_not_fit_is_refused(tmp_path, command, name, method):
    """The fields alone fit. The system would grant the memory for the rest, and kill the run when it is touched."""
    files = {"memory.max": "9000000", "memory.current": "1000000"}
    small = ["--set", 'solver.kernel="reference"']
    assert run(tmp_path, files, *small).returncode == 0
    said = run(tmp_path, files, *small, *method, command=command)
    assert said.returncode == 4
    assert f'case.cfg:2: grid.points: the method "{name}" of 64 x 64 x 64 points needs' in said.stderr
    assert "the container (/sys/fs/cgroup/memory.max) has 8000000 (0.01 GiB) free" in said.stderr
    assert run(tmp_path, files, *small, *method, *points(said.stderr, 0), command=command).returncode == 0
    assert run(tmp_path, files, *small, *method, *points(said.stderr, 10), command=command).returncode == 4


@pytest.mark.parametrize("free, taken", [(60000000, "multigrid"), (20000000, "spectral"), (9000000, None)])
def test_a_steady_state_is_solved_for_by_what_has_the_memory(tmp_path, free, taken):
    """The fields take 4 MiB, the results 2; "multigrid" takes 28 in all, "spectral" 15."""
    files = {"memory.max": str(free), "memory.current": "0"}
    steady = ["--set", 'time={safety=0.9;}', "--set", 'steady={tolerance=1e-6;method="auto";}', "--set", 'boundary.all={type="dirichlet";value=2.0;}']
    for command in ("check", "run"):
        said = run(tmp_path, files, *steady, "--json", command=command)
        if not taken:
            assert said.returncode == 4 and 'the method "multigrid" of 64 x 64 x 64 points needs' in said.stderr, said.stderr
            continue
        assert said.returncode == 0, said.stderr
        told = json.loads(said.stdout)
        note = 'steady.method "auto" takes spectral, since multigrid needs more memory than is free'
        assert told["steady_method"] == taken and (note in (told["note"] or "")) == (taken == "spectral"), told["note"]
    named = [*steady[:2], "--set", 'steady={tolerance=1e-6;method="multigrid";}', *steady[4:]]
    assert run(tmp_path, files, *named).returncode == (0 if taken == "multigrid" else 4)


def test_a_bench_that_will_not_fit_is_refused_before_its_proof(tmp_path):
    """Its three fields of 2 MiB each fit, but not the two of the kernels besides."""
    said = run(tmp_path, {"memory.max": "8000000", "memory.current": "0"}, "--repeats", "1", command="bench", config="--points=64")
    assert said.returncode == 4 and said.stdout == ""
    assert "bench: not enough memory for the proof: 10485760 bytes (0.01 GiB) needed" in said.stderr and "take fewer --points" in said.stderr


def test_a_case_that_fits_runs(tmp_path):
    done = run(tmp_path, {"memory.max": "104857600", "memory.current": "8388608"})
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("environment, threads", [({}, 1), ({"OMP_NUM_THREADS": "2"}, 2)])
def test_threads_are_no_more_than_the_processors_allowed(tmp_path, environment, threads):
    done = run(tmp_path, {"cpu.max": "100000 100000"}, "--json", **environment)
    assert done.returncode == 0, done.stderr
    assert int(json.loads(done.stdout)["device"].split()[0]) == threads


def test_check_says_that_a_folder_cannot_be_written_to(tmp_path):
    (tmp_path / "case.cfg").write_text(CONFIG.replace('"run.h5"', '"there/new/run.h5"'))
    (tmp_path / "there").mkdir()
    script = 'mount -t tmpfs -o ro none there || exit 99; exec "$@"'
    command = ["unshare", "--mount", "sh", "-c", script, "sh", HEATSOLVE]
    told, done = (
        subprocess.run([*command, *arguments], cwd=tmp_path, capture_output=True, text=True)
        for arguments in (["check", "case.cfg", "--json"], ["run", "case.cfg", "--quiet"])
    )
    if done.returncode == 99 or "unshare" in done.stderr:
        pytest.skip("needs the right to mount")
    assert done.returncode == 3 and "Read-only file system" in done.stderr
    told = json.loads(told.stdout)
    assert "Read-only file system; set output.file to where you may write" in told["refused"]
    assert not told["refused"].endswith("\n") and isinstance(told["memory_bytes"], int)
