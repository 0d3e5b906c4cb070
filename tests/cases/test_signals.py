"""A run goes on when its readers are gone, and saves its state at every signal that announces an end."""

import os
import pty
import re
import resource
import signal
import subprocess
import time

import h5py
import pytest
from program import HEATSOLVE, heatsolve, must, start

ENDLESS = """
title = "endless";
grid = { points = [120, 100]; spacing = 0.1; };
material = { diffusivity = 1.0; };
initial = { expression = "sin(x)*cos(3*y)"; };
boundary = { all = { type = "reflective"; }; };
time = { sweeps = 100000000; };
solver = { threads = 1; };
output = { file = "out.h5"; every = 10000; };
"""


@pytest.fixture
def case(tmp_path):
    (tmp_path / "case.cfg").write_text(ENDLESS)
    return tmp_path


def wait_until_it_runs(directory, process):
    while process.poll() is None and not (directory / "out.h5").exists():
        time.sleep(0.01)


def status_of(path):
    with h5py.File(path) as file:
        return file.attrs["status"]


def assert_goes_on(directory, sweep):
    must(directory, "run", "case.cfg", "--quiet", "--resume", "--set", f"time.sweeps={sweep + 10}")
    with h5py.File(directory / "out.h5") as file:
        assert file["sweep"][-1] == sweep + 10


def interrupted_at(message, name):
    found = re.search(r"interrupted at sweep (\d+), t = \S+ s, by (\w+); .*--resume", message)
    assert found and found[2] == name, message
    return int(found[1])


@pytest.mark.parametrize("name", ["SIGHUP", "SIGUSR1", "SIGXCPU"])
@pytest.mark.parametrize("times", [1, 20])
def test_the_state_is_saved(case, name, times):
    """However often the signal comes: both the shell and the kernel send SIGHUP, and SIGXCPU comes every second."""
    run = start(case, "run", "case.cfg", "--quiet", text=True)
    wait_until_it_runs(case, run)
    for _ in range(times):
        run.send_signal(getattr(signal, name))
    _, message = run.communicate(timeout=60)
    assert run.returncode == 130, message
    assert_goes_on(case, interrupted_at(message, name))


def test_a_limit_on_processor_time_saves_the_state(case):
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (1, 30))  # ulimit -S -t 1

    result = heatsolve(case, "run", "case.cfg", "--quiet", preexec_fn=limit, timeout=60)
    assert result.returncode == 130, result.stderr
    assert_goes_on(case, interrupted_at(result.stderr, "SIGXCPU"))


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_the_second_one_ends_it_at_once(case, name):
    """Unless the run has already ended by itself."""
    number = getattr(signal, name)
    run = start(case, "run", "case.cfg", "--quiet", stderr=subprocess.DEVNULL)
    wait_until_it_runs(case, run)
    run.send_signal(number)
    handled = time.monotonic() + 10
    while run.poll() is None and time.monotonic() < handled:
        run.send_signal(number)
    assert run.wait() in (-number, 130)


def test_a_signal_that_was_ignored_stays_ignored(case):
    """As under nohup."""
    end = ["--set", "time.sweeps=100000"]
    ignore = lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)  # noqa: E731
    run = start(case, "run", "case.cfg", "--quiet", *end, stderr=None, preexec_fn=ignore)
    wait_until_it_runs(case, run)
    run.send_signal(signal.SIGHUP)
    assert run.wait(timeout=60) == 0
    assert status_of(case / "out.h5") == "finished"


SOLVED = ENDLESS.replace("[120, 100]; spacing", "[161, 161, 161]; spacing").replace(
    "time = { sweeps = 100000000; };", 'steady = { tolerance = 1e-10; method = "multigrid"; };').replace(
    '"reflective"', '"dirichlet"; value = 1.0')  # fmt: skip


@pytest.mark.parametrize("earlier", [False, True])
def test_a_solve_is_watched_and_stopped(tmp_path, earlier):
    """On a terminal, interrupted after the first iteration is shown; an existing file stays."""
    (tmp_path / "case.cfg").write_text(SOLVED)
    if earlier:
        must(tmp_path, "run", "case.cfg", "--quiet", "--set", "grid.points=[9,9,9]")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(tmp_path)
        os.execv(HEATSOLVE, [HEATSOLVE, "run", "case.cfg", *(["--overwrite"] if earlier else [])])
    told = ""
    while not re.search(r"iteration \d+  residual \S+/1e-10  in ", told):
        try:
            told += os.read(terminal, 1000).decode()
        except OSError:  # EIO: the other end is closed
            pytest.fail(f"it ended before an iteration was shown: {told}")
    os.kill(pid, signal.SIGINT)
    try:
        while part := os.read(terminal, 1000):
            told += part.decode()
    except OSError:  # EIO: the other end is closed
        pass
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 130, told
    assert "interrupted by SIGINT while multigrid solved" in told and "nothing was written" in told
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("method", ["implicit", "rkl2"])
def test_a_step_that_takes_long_is_given_up(tmp_path, method):
    """With a tolerance that needs far more steps than there is time for, within a single planned step."""
    lasting = ENDLESS.replace(" every = 10000;", "").replace(
        "time = { sweeps = 100000000; };",
        f'time = {{ end = 1.0e4; tolerance = 1e-9; method = "{method}"; }};\nsource = {{ expression = "sin(9*t)"; }};',
    )
    (tmp_path / "case.cfg").write_text(lasting)
    run = start(tmp_path, "run", "case.cfg", "--quiet", text=True)
    wait_until_it_runs(tmp_path, run)
    time.sleep(0.5)  # nearly all of it in the steps
    begin = time.monotonic()
    run.send_signal(signal.SIGINT)
    told = run.communicate(timeout=60)[1]
    assert run.returncode == 130, told
    assert "interrupted at step 0, t = 0 s, by SIGINT" in told
    assert time.monotonic() - begin < 5.0  # 10 ms on our machine


# ---- nobody reads any more -------------------------------------------------------------------------


@pytest.mark.parametrize("form", [[], ["--json"]], ids=["text", "json"])
@pytest.mark.parametrize("status", [0, 1])
def test_a_reader_that_goes_away_does_not_stop_a_run(case, form, status):
    """run ... 2>&1 | head: the run ends with the exit code that it would have had anyway."""
    more = ["--set", "time.sweeps=20000", *form]
    more += ["--set", 'exact.expression="1"', "--set", "exact.max_error=1e-9"] if status else []
    reader, writer = os.pipe()
    run = start(case, "run", "case.cfg", *more, stdout=writer, stderr=writer)
    os.close(writer)
    os.close(reader)
    assert run.wait(timeout=60) == status
    assert status_of(case / "out.h5") == ("failed check" if status else "finished")


def test_a_table_that_nobody_reads_is_kept(case):
    cache = case / "cache"
    reader, writer = os.pipe()
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    tune = start(case, "tune", "case.cfg", stdout=writer, stderr=writer, env=environment)
    os.close(writer)
    os.close(reader)
    assert tune.wait(timeout=120) == 0
    assert any(path.is_file() for path in cache.rglob("*"))


def test_a_command_that_only_prints_ends_quietly(case):
    """heatsolve options | head -1: ends by SIGPIPE, as cat does; a shell shows 141."""
    for begin, codes in (("", "141 0"), ("trap '' PIPE;", "0 0")):
        script = f"{begin} '{HEATSOLVE}' options --markdown | sleep 0; echo ${{PIPESTATUS[@]}}"
        result = subprocess.run(["bash", "-c", script], cwd=case, capture_output=True, text=True)
        # the reader may be gone before the first byte, or after the last byte that fits into the pipe
        assert result.stderr == "" and result.stdout.strip() in (codes, "0 0")


def in_a_terminal(directory, *arguments, ignore=False):
    """Pid and terminal of a run that has begun, in a session of its own."""
    pid, terminal = pty.fork()
    if pid == 0:
        if ignore:
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
        os.chdir(directory)
        os.execv(HEATSOLVE, [HEATSOLVE, "run", "case.cfg", *arguments])
    while not (directory / "out.h5").exists() and os.waitpid(pid, os.WNOHANG) == (0, 0):
        time.sleep(0.01)
    os.read(terminal, 1)
    return pid, terminal


def test_a_closed_terminal_saves_the_state(case):
    pid, terminal = in_a_terminal(case)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 130
    with h5py.File(case / "out.checkpoint.h5") as file:
        sweep = int(file.attrs["sweep"])
    assert_goes_on(case, sweep)


def test_under_nohup_a_closed_terminal_does_not_stop_a_run(case):
    """Progress and summary cannot be written (EIO), which does not matter."""
    pid, terminal = in_a_terminal(case, "--set", "time.sweeps=100000", ignore=True)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert status_of(case / "out.h5") == "finished"
