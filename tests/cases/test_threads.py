"""How threads wait: asleep, unless the user says otherwise. libgomp itself says how, when it is loaded."""

import os
import re
import subprocess

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


def test_threads_sleep_while_they_wait():
    assert spins()[-1] == 0


def test_the_users_word_stands():
    assert spins(OMP_WAIT_POLICY="active")[-1] > 1000000
    assert spins(GOMP_SPINCOUNT="5000") == [5000]
