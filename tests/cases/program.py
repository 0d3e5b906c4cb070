"""Calls of the program, and what its files have: shared by all whole-run tests."""

import os
import subprocess
import time

import h5py

HEATSOLVE = os.environ["HEATSOLVE"]


def heatsolve(directory, *arguments, **more):
    """The finished program with what it has said; `more` is for subprocess.run: env, timeout, another output."""
    how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **more}
    return subprocess.run([HEATSOLVE, *arguments], cwd=directory, **how)


def must(directory, *arguments, **more):
    """What the program prints; if it fails so does the test, with its message."""
    done = heatsolve(directory, *arguments, **more)
    assert done.returncode == 0, done.stderr
    return done.stdout


def start(directory, *arguments, **more):
    """The program as it runs, with its messages in a pipe."""
    how = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, **more}
    return subprocess.Popen([HEATSOLVE, *arguments], cwd=directory, **how)


def wait_for(path, process):
    """Returns when the file is there, or the process has ended."""
    while not path.exists() and process.poll() is None:
        time.sleep(0.002)


def snapshots_in(path):
    with h5py.File(path) as f:
        return len(f["sweep"])


def columns(group):
    """The datasets of a group by name; those in subgroups as "flux/x_min"."""
    found = {}
    group.visititems(lambda name, item: found.update({name: item[...]}) if isinstance(item, h5py.Dataset) else None)
    return found
