"""How threads wait: they spin briefly, then sleep, unless the user sets it (libgomp reports its settings when it is
loaded). And how many threads there are."""

import json
import os
import re

import pytest
from program import heatsolve, must

SAYS_HOW = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")


def spins(**environment):
    """How often a thread spins before it sleeps: a number for each time that libgomp was loaded."""
    clean = {k: v for k, v in os.environ.items() if k not in SAYS_HOW}
    done = heatsolve(".", "--version", env={**clean, "OMP_DISPLAY_ENV": "verbose", **environment})
    assert done.returncode == 0, done.stderr
    counts = [int(n) for n in re.findall(r"GOMP_SPINCOUNT\s*=\s*'(\d+)'", done.stderr)]
    if not counts:
        pytest.skip("not built with libgomp")
    return counts


def test_threads_look_for_a_moment_then_sleep():
    """The program is loaded only once; loading it again would take longer than a small run."""
    assert spins() == [2000]  # some 20 us, as long as a thread takes to wake


@pytest.mark.parametrize("name, value", [("OMP_WAIT_POLICY", "active"), ("OMP_WAIT_POLICY", "passive"),
                                         ("GOMP_SPINCOUNT", "5000"), ("KMP_BLOCKTIME", "1")])
def test_the_users_word_stands(name, value):
    count = spins(**{name: value})
    assert len(count) == 1 and count != [2000]
    if name == "GOMP_SPINCOUNT":
        assert count == [5000]


TWO_THREADS_WORTH = "grid.points=[64, 64, 32]"  # nodes


def threads(directory, **environment):
    """The number of threads that a run reports, on a grid that is worth no more than two."""
    directory.joinpath("case.cfg").write_text("grid = { points = [9]; }; material = { diffusivity = 1.0; };"
                                              " initial = { value = 1.0; }; time = { sweeps = 1; };")
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "GOMP_", "KMP_"))}
    sized = ["run", "case.cfg", "--quiet", "--json", "--overwrite", "--set", TWO_THREADS_WORTH]
    told = must(directory, *sized, env={**clean, **environment})
    return int(json.loads(told)["device"].split()[0])


@pytest.mark.parametrize("name, value", [("OMP_PROC_BIND", "true"), ("OMP_PROC_BIND", "close"),
                                         ("OMP_PROC_BIND", "spread"), ("OMP_PLACES", "cores"),
                                         ("GOMP_CPU_AFFINITY", "0-1"), ("KMP_AFFINITY", "compact")])
def test_bound_threads_are_as_many_as_others(tmp_path, name, value):
    """The library binds the first thread when loaded; the count must not be that of this thread's processor."""
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
