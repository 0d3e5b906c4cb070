"""The runner of bench's peers: names are found, answers judged, slow peers ended, and nothing outlives heatsolve."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest
from program import heatsolve, start

RUN = pathlib.Path(__file__).resolve().parents[2] / "tests" / "peers" / "run.py"
ANSWER = {"name": "x", "version": "soft 1.2", "device": "a device", "apart": 2.5e-07, "samples": 15}
ANSWER.update(seconds=2e-3, seconds_min=1e-3, seconds_max=4e-3)
CASE = b"--points=40,30\n--repeats=3\n\n"


def run(folder, seconds=20, names=None, case=CASE, within="."):
    """The rows, each a list of its columns."""
    result = subprocess.run(
        [sys.executable, RUN, within, str(seconds), *([] if names is None else [names])],
        input=case,
        capture_output=True,
        env=dict(os.environ, HEATSOLVE_PEERS=str(folder)),
        timeout=100,
    )
    assert (result.returncode, result.stderr) == (0, b"")
    return [line.split("\t") for line in result.stdout.decode().splitlines()]


def run_one(folder, body, seconds=20, case=CASE):
    """The columns after the name, for a folder with one peer that has this script."""
    (folder / "one.py").write_text("import json, os, subprocess, sys, time\n" + body)
    ((name, *columns),) = run(folder, seconds, case=case)
    assert name == "one"
    return columns


def says(**answer):
    return f"print({json.dumps(answer)!r})\n"


def test_an_answer_becomes_a_row(tmp_path):
    row = run_one(tmp_path, "print('noise')\n" + says(**ANSWER) + "print('more')\n")
    assert row == ["timed", "15", "0.001", "0.002", "0.004", "2.5e-07", "soft 1.2", "a device"]


def test_texts_are_of_one_line_without_tabs(tmp_path):
    row = run_one(tmp_path, says(**dict(ANSWER, version='soft "1.2"\n\t', device="a d\u00e9vice\x1b[31m")))
    assert row[6:] == ['soft "1.2"  ', "a d\u00e9vice [31m"]
    assert len(run_one(tmp_path, says(error="long" * 1000))[1]) == 250


def test_what_is_absent_says_so(tmp_path):
    assert run_one(tmp_path, says(name="x", absent="no GPU")) == ["absent", "no GPU"]


def test_the_last_answer_counts(tmp_path):
    assert run_one(tmp_path, says(**ANSWER) + says(error="differs from numpy")) == ["failed", "differs from numpy"]


def test_failures_are_one_line(tmp_path):
    assert run_one(tmp_path, "sys.exit('Traceback\\nError: its reason\\n  \\n')") == ["failed", "Error: its reason"]
    missing = "ModuleNotFoundError: No module named 'no_such_thing'"
    assert run_one(tmp_path, "import no_such_thing") == ["failed", missing]
    assert run_one(tmp_path, "sys.exit(3)") == ["failed", "no answer"]
    assert run_one(tmp_path, "os.kill(os.getpid(), 11)") == ["failed", "no answer"]
    assert run_one(tmp_path, "print('{\"seconds\": ')") == ["failed", "its answer is no JSON"]


@pytest.mark.parametrize(
    "wrong",
    [{"seconds": 0}, {"seconds": float("nan")}, {"seconds": float("inf")}, {"seconds": "1"}, {"seconds": None}]
    + [{"samples": 0}, {"seconds_min": -1.0}, {"seconds_max": None}],
)
def test_a_time_that_is_none_is_a_failure(tmp_path, wrong):
    assert run_one(tmp_path, says(**dict(ANSWER, **wrong))) == ["failed", "its answer has no time"]


def test_an_empty_answer_is_a_failure(tmp_path):
    assert run_one(tmp_path, says()) == ["failed", "its answer has no time"]


def test_what_is_not_known_is_left_empty(tmp_path):
    answer = {key: value for key, value in ANSWER.items() if key not in ("version", "device", "apart")}
    assert run_one(tmp_path, says(**answer))[5:] == ["nan", "", ""]


def test_much_that_is_printed_does_not_hide_the_answer(tmp_path):
    noise = "for n in range(20000): print('a line of no use', n); print('nor this', file=sys.stderr)\n"
    assert run_one(tmp_path, noise + says(absent="after all"))[1] == "after all"


def test_a_slow_one_is_ended_with_what_it_started(tmp_path):
    begin = time.monotonic()
    slow = f"child = subprocess.Popen(['sleep', '60'])\nopen({str(tmp_path / 'pid')!r}, 'w').write(str(child.pid))\n"
    # what it has answered by then does not count
    assert run_one(tmp_path, slow + says(**ANSWER) + "time.sleep(60)", 1.5) == ["failed", "took longer than 1.5 s"]
    assert time.monotonic() - begin < 30
    assert_ended([(tmp_path / "pid").read_text()])


def test_what_it_left_behind_is_not_waited_for(tmp_path):
    begin = time.monotonic()
    left = f"child = subprocess.Popen(['sleep', '60'])\nopen({str(tmp_path / 'pid')!r}, 'w').write(str(child.pid))\n"
    assert run_one(tmp_path, left + says(absent="left"), 50) == ["absent", "left"]
    assert time.monotonic() - begin < 30
    assert_ended([(tmp_path / "pid").read_text()])


def test_one_failure_does_not_stop_the_others(tmp_path):
    for name, body in (("b", "import sys; sys.exit('bad')"), ("a", says(absent="x")), ("c", says(**ANSWER))):
        (tmp_path / f"{name}.py").write_text(body)
    assert [row[:2] for row in run(tmp_path)] == [["a", "absent"], ["b", "failed"], ["c", "timed"]]


def test_the_case_is_handed_over(tmp_path):
    proof = b"21,17 4\n\n\n\0\xff bytes"
    body = (
        "file = sys.argv[-1].removeprefix('--proof=')\n"
        "print(json.dumps({'absent': ' '.join(sys.argv[1:-1]) + ' ' + open(file, 'rb').read().hex() + ' ' + file}))\n"
    )
    status, said = run_one(tmp_path, body, case=CASE + proof)
    options, hexadecimal, file = said.rsplit(" ", 2)
    assert (status, options, bytes.fromhex(hexadecimal)) == ("absent", "--points=40,30 --repeats=3", proof)
    assert not pathlib.Path(file).exists()  # removed when all peers are done


def test_names_are_looked_up(tmp_path):
    for name in ("second", "first", "common", "run", "hypre_steady"):
        (tmp_path / f"{name}.py").write_text(says(absent="x"))
    (tmp_path / "notes.txt").touch()
    assert [row[0] for row in run(tmp_path)] == ["first", "second"]
    assert [row[0] for row in run(tmp_path, names="second")] == ["second"]
    assert [row[0] for row in run(tmp_path, names="second,first")] == ["second", "first"]
    assert run(tmp_path, case=b"") == [] and run(tmp_path, names="second", case=b"") == []
    for case in (b"", CASE):  # before any peer is run
        ((name, status, why),) = run(tmp_path, names="second,third", case=case)
        assert (name, status) == ("-", "refused") and '"third"' in why and "first, second" in why


def test_no_peers_are_refused(tmp_path):
    for folder in (tmp_path, tmp_path / "none"):
        ((name, status, why),) = run(folder)
        assert (name, status) == ("-", "refused") and str(folder) in why and "HEATSOLVE_PEERS" in why


def assert_ended(processes):
    """The processes are gone, or are zombies that only wait to be reaped."""

    def runs(process):
        try:
            return pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except (FileNotFoundError, ProcessLookupError):
            return False

    end = time.monotonic() + 20
    while any(map(runs, processes)) and time.monotonic() < end:
        time.sleep(0.05)
    assert not [process for process in processes if runs(process)]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_outlives_heatsolve(tmp_path, number):
    peers, rest = tmp_path / "peers", tmp_path / "rest"
    peers.mkdir()
    rest.mkdir()
    (peers / "slow.py").write_text(
        "import os, subprocess, time\n"
        "child = subprocess.Popen(['sleep', '600'])\n"
        f"open({str(tmp_path / 'new')!r}, 'w').write(f'{{os.getppid()}} {{os.getpid()}} {{child.pid}}')\n"
        f"os.rename({str(tmp_path / 'new')!r}, {str(tmp_path / 'pids')!r})\n"
        "time.sleep(600)\n"
    )
    case = ["--backend", "cpu", "--points", "9", "--repeats", "3", "--kernel", "reference"]
    environment = dict(os.environ, PYTHON=sys.executable, HEATSOLVE_PEERS=str(peers), TMPDIR=str(rest))
    program = start(
        ".", "bench", *case, "--peers", env=environment, start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # ignored if the tests run in the background of a shell
    )
    end = time.monotonic() + 60
    while not (tmp_path / "pids").exists() and time.monotonic() < end:
        time.sleep(0.05)
    os.killpg(program.pid, number)  # as a terminal does
    assert program.wait(20) == -number
    assert_ended((tmp_path / "pids").read_text().split())
    assert program.communicate(timeout=20)[1] == b""  # its script prints nothing about it
    assert list(rest.iterdir()) == []


def test_a_peer_does_not_outlive_its_script_and_the_times_are_said(tmp_path):
    (tmp_path / "a.py").write_text(says(absent="here"))
    (tmp_path / "b.py").write_text(
        "import os, time\n"
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\n"
        "os.kill(os.getppid(), 9)\n"
        "time.sleep(600)\n"
    )
    environment = dict(os.environ, PYTHON=sys.executable, HEATSOLVE_PEERS=str(tmp_path))
    case = ["--backend", "cpu", "--points", "9", "--repeats", "3"]
    result = heatsolve(".", "bench", *case, "--peers", env=environment, timeout=60)
    assert result.returncode == 3 and "run.py failed" in result.stderr
    assert "GCell/s" in result.stdout and "here" in result.stdout
    assert_ended([(tmp_path / "pid").read_text()])


@pytest.mark.parametrize("python", ["/nowhere/python", "false"])
def test_no_python_is_an_error_before_anything_is_timed(python):
    environment = dict(os.environ, PYTHON=python)
    result = heatsolve(".", "bench", "--backend", "cpu", "--points", "9", "--peers", env=environment, timeout=60)
    assert result.stdout == "" and result.stderr.startswith("heatsolve: bench: --peers: ")
    if python == "false":
        assert result.returncode == 3 and "run.py failed" in result.stderr
    else:
        assert result.returncode == 2 and "cannot start /nowhere/python: No such file" in result.stderr
