"""Installation into an empty place, what works from there, and removal; what set-up refuses."""

import json
import os
import pathlib
import shutil
import stat
import subprocess
import sys

import pytest
from program import HEATSOLVE, must

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(HEATSOLVE).parent


def install(destination, *arguments):
    return subprocess.run(
        [ROOT / ".ci" / "install", *arguments],
        env={**os.environ, "PREFIX": "/usr", "DESTDIR": str(destination)},
        capture_output=True,
        text=True,
        check=True,
    )


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    destination = tmp_path_factory.mktemp("root")
    install(destination, str(BUILD))
    return destination / "usr"


def test_everything_is_in_its_place(installed):
    for path in (
        "bin/heatsolve",
        "share/man/man1/heatsolve.1",
        "share/bash-completion/completions/heatsolve",
        "share/heatsolve/configs/demo.cfg",
        "share/heatsolve/configs/boundary/robin.cfg",
        "share/heatsolve/data/restart.h5",
        "share/heatsolve/data/README.md",
        "share/heatsolve/peers/common.py",
        "share/heatsolve/peers/numpy_slices.py",
        "share/heatsolve/peers/run.py",
    ):
        assert (installed / path).is_file(), path
    assert (installed / "bin/heatsolve").stat().st_mode & stat.S_IXUSR


def test_the_installed_program_runs_an_installed_case_that_reads_data(installed, tmp_path):
    config = installed / "share/heatsolve/configs/restart.cfg"
    result = subprocess.run(
        [installed / "bin/heatsolve", "run", config, "--quiet", "--set", f"output.file={tmp_path}/r.h5"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "r.h5").is_file()


def test_the_installed_program_finds_its_peers(installed, tmp_path):
    unset = ("HEATSOLVE_PEERS", "PYTHONDONTWRITEBYTECODE")
    environment = {key: value for key, value in os.environ.items() if key not in unset}
    result = subprocess.run(
        [installed / "bin/heatsolve", "bench", "--points", "17", "--repeats", "3", "--peer", "numpy_slices"],
        cwd=tmp_path,
        env={**environment, "PYTHON": sys.executable},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    assert "peer: numpy_slices" in result.stdout
    assert not list((installed / "share/heatsolve/peers").glob("__pycache__"))


def test_uninstall_leaves_nothing(tmp_path):
    install(tmp_path, str(BUILD))
    assert any(p.is_file() for p in tmp_path.rglob("*"))
    install(tmp_path, "--remove")
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []


def complete(installed, directory, *words):
    """The completions that bash offers for the last of these words."""
    script = f"""
        source {installed}/share/bash-completion/completions/heatsolve
        COMP_WORDS=({' '.join(repr(w) for w in words)})
        COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
        _heatsolve
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    path = f"{installed}/bin:{os.environ['PATH']}"
    result = subprocess.run(
        ["bash", "-c", script], cwd=directory, env={**os.environ, "PATH": path}, capture_output=True, text=True
    )
    return [line for line in result.stdout.splitlines() if line]


def test_completion_offers_commands(installed, tmp_path):
    assert "run" in complete(installed, tmp_path, "heatsolve", "")
    assert complete(installed, tmp_path, "heatsolve", "rend") == ["render"]


def test_completion_offers_configs_and_files(installed, tmp_path):
    for name in ("case.cfg", "case.h5", "notes.txt"):
        (tmp_path / name).touch()
    assert complete(installed, tmp_path, "heatsolve", "run", "") == ["case.cfg"]
    assert complete(installed, tmp_path, "heatsolve", "render", "") == ["case.h5"]
    (tmp_path / "my case.cfg").touch()
    for words in (["heatsolve", "run", "my"], ["heatsolve", "run", "case.cfg", "--output", "my"]):
        assert complete(installed, tmp_path, *words) == ["my case.cfg"]


def test_completion_offers_options_of_the_command(installed, tmp_path):
    assert "--step" in complete(installed, tmp_path, "heatsolve", "render", "case.h5", "--st")
    assert "--step" not in complete(installed, tmp_path, "heatsolve", "run", "case.cfg", "--st")


def test_completion_offers_keys(installed, tmp_path):
    assert complete(installed, tmp_path, "heatsolve", "run", "case.cfg", "--set", "time.e") == ["time.end="]
    assert "boundary.z_max.h=" in complete(installed, tmp_path, "heatsolve", "run", "case.cfg", "--set", "boundary.z_")


def test_completion_puts_an_equals_sign_behind_every_key(installed, tmp_path):
    offered = complete(installed, tmp_path, "heatsolve", "run", "case.cfg", "--set", "")
    assert len(offered) > 80 and "boundary.x_min.type=" in offered and "probes[0].at=" in offered
    assert [key for key in offered if not key.endswith("=")] == []


def test_completion_offers_the_values_that_a_key_has(installed, tmp_path):
    setting = ["heatsolve", "run", "case.cfg", "--set"]
    assert complete(installed, tmp_path, *setting, "precision", "=", "") == ["double", "float"]
    assert complete(installed, tmp_path, *setting, "boundary.x_min.type", "=", "ref") == ["reflective"]
    assert complete(installed, tmp_path, *setting, "solver.kernel", "=") == kernels_of_this_build()
    assert complete(installed, tmp_path, *setting, "time.end", "=", "") == []


def kernels_of_this_build():
    told = json.loads(must(".", "kernels", "--json"))
    return [kernel["name"] for kernel in told["kernels"] if kernel["built"]]


def test_completion_offers_the_kernels_that_the_build_has(installed, tmp_path):
    for command in (["bench"], ["verify", "case.cfg"]):
        offered = complete(installed, tmp_path, "heatsolve", *command, "--kernel", "")
        assert [name for name in offered if name != "all"] == kernels_of_this_build()


def test_completion_offers_values_of_options(installed, tmp_path):
    (tmp_path / "case.cfg").touch()
    assert complete(installed, tmp_path, "heatsolve", "verify", "case.cfg", "--kernel", "op") == ["openmp"]
    assert complete(installed, tmp_path, "heatsolve", "verify", "case.cfg", "--kernel", "a") == ["all"]
    assert complete(installed, tmp_path, "heatsolve", "bench", "--precision", "") == ["float", "double"]
    assert complete(installed, tmp_path, "heatsolve", "bench", "--points", "") == []
    assert "viridis" in complete(installed, tmp_path, "heatsolve", "render", "case.h5", "--map", "")
    assert complete(installed, tmp_path, "heatsolve", "render", "case.h5", "--plot", "") == ["probes", "history"]
    assert complete(installed, tmp_path, "heatsolve", "render", "case.h5", "--contours", "") == []
    explained = complete(installed, tmp_path, "heatsolve", "explain", "")
    assert "basic" in explained and "openmp" not in explained  # openmp has no launch


# ---- make ---------------------------------------------------------------------------------------


def test_another_mpi_behind_the_same_name_is_noticed(tmp_path):
    """As a module or an alternative changes it: objects for one MPI do not go with the library of another."""
    mpicc, target = tmp_path / "mpicc", tmp_path / "src/engine/ranks/mpi/same.o"

    def up_to_date(mpi):
        mpicc.write_text(f"#!/bin/sh\necho cc -l{mpi}\n")
        mpicc.chmod(0o755)
        environment = {name: value for name, value in os.environ.items() if name != "MAKEFLAGS"}
        command = ["make", "--question", f"BUILD={tmp_path}", "MPI=yes", f"MPICC={mpicc}", "NVCC=none", str(target)]
        return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True).returncode == 0

    assert not up_to_date("mpi")
    target.parent.mkdir(parents=True)
    target.touch()
    assert [up_to_date(mpi) for mpi in ("mpi", "mpi", "mpich")] == [True, True, False]


# ---- .ci/setup ---------------------------------------------------------------------------------


def set_up(tmp_path, *arguments, tools=(), user=None, **variables):
    """Runs set-up on a machine that has only a shell, the usual tools and `tools`."""
    bin = tmp_path / "bin"
    bin.mkdir(exist_ok=True)
    for tool in ("sh", "id", "mktemp", "rm", "tail", "env"):
        link = bin / tool
        if not link.exists():
            link.symlink_to(f"/usr/bin/{tool}")
    for name, text in dict(tools).items():
        (bin / name).write_text(f"#!/bin/sh\n{text}\n")
        (bin / name).chmod(0o755)
    if user is not None:
        (bin / "id").unlink()
        (bin / "id").write_text(f"#!/bin/sh\necho {user}\n")
        (bin / "id").chmod(0o755)
    return subprocess.run(
        ["/bin/sh", ROOT / ".ci" / "setup", *arguments],
        env={"PATH": str(bin), "PYTHON": str(bin / "python3"), **variables},
        capture_output=True,
        text=True,
    )


def test_setup_prints_the_line_for_an_empty_machine(tmp_path):
    result = set_up(tmp_path, "build", "--print", tools={"apt-get": "exit 99"})
    assert result.returncode == 1
    line = result.stdout.strip()
    assert line.startswith("sudo apt-get install -y --no-install-recommends ")
    for package in ("make", "gcc", "pkg-config", "libhdf5-dev", "zlib1g-dev", "libcairo2-dev"):
        assert package in line.split()


@pytest.mark.parametrize("variables, package", [({}, "openmpi"), ({"MPICC": "mpicc.mpich", "MPIRUN": "mpirun.mpich"}, "mpich")])
def test_setup_finds_the_mpi_that_is_asked_for(tmp_path, variables, package):
    there = {"mpicc.mpich": "exit 0"} if not variables else {"mpicc": "exit 0", "mpirun": "exit 0"}
    result = set_up(tmp_path, "ranks", "--print", tools={"apt-get": "exit 99", **there}, **variables)
    assert [word for word in result.stdout.split() if "mpi" in word] == [f"lib{package}-dev", f"{package}-bin" if package == "openmpi" else package]


@pytest.mark.parametrize("version, options", [("mpirun (Open MPI) 4.1.4", "--oversubscribe -n 2"), ("HYDRA build details:", "-n 2")])
def test_the_demo_is_started_as_its_mpi_can(tmp_path, version, options):
    """MPICH's mpirun does not know Open MPI's options."""
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "demo", tmp_path / ".ci")
    for name, text in {"mpirun.other": f'[ "$1" = --version ] && echo "{version}" || printf "%s\\n" "$*" >{tmp_path}/called', "program": ":"}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    program = tmp_path / "program"
    subprocess.run([tmp_path / ".ci" / "demo", program, program], env={**os.environ, "MPIRUN": f"{tmp_path}/mpirun.other"}, check=True, stdout=subprocess.DEVNULL)
    assert (tmp_path / "called").read_text() == f"{options} {program} run configs/demo.cfg\n"


def test_setup_stops_with_the_line_where_it_may_not_install(tmp_path):
    result = set_up(tmp_path, "test", tools={"apt-get": "touch called"}, user=1000)
    assert result.returncode == 2
    assert "    sudo apt-get install -y" in result.stderr
    assert "libcmocka-dev" in result.stderr
    assert not (tmp_path / "called").exists()


def test_setup_names_the_libraries_where_there_is_no_apt(tmp_path):
    result = set_up(tmp_path, "build")
    assert result.returncode == 2
    for name in ("HDF5", "zlib", "Cairo"):
        assert name in result.stderr
    assert "apt-get" not in result.stderr


def test_setup_installs_as_root_and_says_what(tmp_path):
    log = tmp_path / "log"
    result = set_up(tmp_path, "build", tools={"apt-get": f'echo "$*" >>{log}'}, user=0)
    assert result.returncode == 0, result.stderr
    assert "heatsolve: installing " in result.stdout
    calls = log.read_text().splitlines()
    assert calls[0].endswith("update")
    assert "install -y --no-install-recommends" in calls[1] and "libhdf5-dev" in calls[1]


def test_setup_says_when_apt_fails(tmp_path):
    result = set_up(tmp_path, "build", tools={"apt-get": "echo no route to mirror; exit 100"}, user=0)
    assert result.returncode == 3
    assert "no route to mirror" in result.stderr


def test_setup_is_silent_and_calls_nothing_when_nothing_is_missing(tmp_path):
    everything = {name: "exit 0" for name in ("make", "cc", "pkg-config")}
    result = set_up(tmp_path, "build", tools={**everything, "apt-get": "touch called"}, user=0)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert not (tmp_path / "called").exists()
