"""How threads wait: briefly awake, then asleep, unless the user says otherwise. libgomp itself says how, when it is
loaded."""

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
