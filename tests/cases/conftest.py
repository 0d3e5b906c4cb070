"""For all whole-run tests, however pytest is started."""

import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]

os.environ.setdefault("HEATSOLVE", str(ROOT / "build" / "heatsolve"))
# Threads that wait spin otherwise, and on a machine with other work that costs 20 times a small run.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
