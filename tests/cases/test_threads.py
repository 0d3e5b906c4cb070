"""How threads wait: briefly awake, then asleep, unless the user says otherwise; libgomp itself says how, when it is
loaded. And how many there are."""

import json
import os
import re
import subprocess
import sys
import time

import pytest

SAYS_HOW = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")


def spins(**environment):
    """How often a thread looks before it sleeps, of each time that libgomp was loaded, in order."""
    clean = {k: v for k, v in os.environ.items() if k not in SAYS_HOW}
    done = subprocess.run([os.environ["HEATSOLVE"], "--version"], capture_output=True, text=True, check=True,
                          env={**clean, "OMP_DISPLAY_ENV": "verbose", **environment})
    counts = [int(n) for n in re.findall(r"GOMP_SPINCOUNT\s*=\s*'(\d+)'", done.stderr)]
    if not counts:
        pytest.skip("not built with libgomp")
    return counts


def test_threads_look_for_a_moment_then_sleep():
    assert spins()[-1] == 2000  # some 20 us, as long as a thread takes to wake


def test_the_users_word_stands():
    assert spins(OMP_WAIT_POLICY="active")[-1] > 1000000
    assert spins(GOMP_SPINCOUNT="5000") == [5000]


def test_the_process_keeps_its_name():
    """It begins anew to say how its threads wait, and not as "exe"."""
    reads_itself = "import os, sys; os.execv(sys.argv[1], ['heatsolve', 'run', '/dev/stdin'])"
    clean = {k: v for k, v in os.environ.items() if k not in SAYS_HOW}
    process = subprocess.Popen([sys.executable, "-c", reads_itself, os.environ["HEATSOLVE"]], stdin=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, env=clean)
    name = f"/proc/{process.pid}/comm"
    waited_until = time.monotonic() + 10  # s, for a start on a busy machine
    while open(name).read().strip() != os.path.basename(os.environ["HEATSOLVE"]) and time.monotonic() < waited_until:
        time.sleep(0.01)
    time.sleep(0.2)  # it begins anew within milliseconds of its start
    found = open(name).read().strip()
    process.communicate()
    assert found == os.path.basename(os.environ["HEATSOLVE"])


TWO_THREADS_WORTH = "grid.points=[64, 64, 32]"  # nodes


def threads(directory, **environment):
    """How many a run says it has, where no more than two are worth having."""
    directory.joinpath("case.cfg").write_text("grid = { points = [9]; }; material = { diffusivity = 1.0; };"
                                              " initial = { value = 1.0; }; time = { sweeps = 1; };")
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "GOMP_", "KMP_"))}
    done = subprocess.run([os.environ["HEATSOLVE"], "run", "case.cfg", "--quiet", "--json", "--overwrite", "--set", TWO_THREADS_WORTH],
                          cwd=directory, capture_output=True, text=True, env={**clean, **environment})
    assert done.returncode == 0, done.stderr
    return int(json.loads(done.stdout)["device"].split()[0])


@pytest.mark.parametrize("name, value", [("OMP_PROC_BIND", "true"), ("OMP_PROC_BIND", "close"),
                                         ("OMP_PROC_BIND", "spread"), ("OMP_PLACES", "cores"),
                                         ("GOMP_CPU_AFFINITY", "0-1"), ("KMP_AFFINITY", "compact")])
def test_bound_threads_are_as_many_as_others(tmp_path, name, value):
    """The library binds the first thread when it is loaded; what begins anew must not be left with its processor."""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs two processors")
    assert threads(tmp_path, **{name: value}) == 2


def test_the_users_number_and_processors_stand(tmp_path):
    assert threads(tmp_path, OMP_NUM_THREADS="1") == 1
    assert threads(tmp_path, OMP_THREAD_LIMIT="1") == 1
    assert threads(tmp_path, OMP_NUM_THREADS="2") == 2
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        assert threads(tmp_path, OMP_PROC_BIND="true") == 1
    finally:
        os.sched_setaffinity(0, allowed)
