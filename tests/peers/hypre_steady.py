"""heatsolve's multigrid against hypre's, in turns: a cube of N^3 nodes, held walls, a source everywhere, double, to
1e-10.

    python3 tests/peers/hypre_steady.py build/heatsolve [N] [ROUNDS] [pfmg] [smg]

Needs mpicc, mpirun and hypre (Debian: libhypre-dev). Prints a line for each run, and the machine's load before it.
heatsolve's seconds cover the whole method: equations, coarse networks, iterations. hypre's cover set-up and solution,
but not the assembly of its matrix. Both use two cores: two threads, two ranks.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CONFIG = """
grid = { points = [%d, %d, %d]; upper = [1.0, 1.0, 1.0]; };
material = { diffusivity = 1.0; };
initial = { value = 0.0; };
boundary = { all = { type = "dirichlet"; value = 0.0; }; };
source = { value = 1.0; };
steady = { tolerance = 1e-10; method = "multigrid"; };
solver = { backend = "cpu"; threads = 2; };
probes = ( { name = "centre"; at = [0.5, 0.5, 0.5]; } );
output = { file = "out.h5"; overwrite = true; };
"""


def main():
    heatsolve = os.path.abspath(sys.argv[1])
    points = int(sys.argv[2]) if len(sys.argv) > 2 else 257
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    peers = sys.argv[4:] or ["pfmg", "smg"]
    if not shutil.which("mpicc") or not shutil.which("mpirun"):
        sys.exit("hypre_steady: mpicc or mpirun not found; on Debian: apt-get install libhypre-dev")
    with tempfile.TemporaryDirectory() as folder:
        flags = ["-O3", "-I/usr/include/hypre", str(HERE / "hypre_steady.c"), "-lHYPRE", "-lm"]
        if subprocess.run(["mpicc", *flags, "-o", f"{folder}/peer"]).returncode:
            sys.exit("hypre_steady: hypre does not compile; on Debian: apt-get install libhypre-dev")
        pathlib.Path(folder, "case.cfg").write_text(CONFIG % (points, points, points))
        mpi = ["mpirun", "--oversubscribe", *(["--allow-run-as-root"] if os.getuid() == 0 else []), "-n", "2", "./peer", str(points)]
        for _ in range(rounds):
            for command in ([heatsolve, "run", "case.cfg", "--json"], *([*mpi, peer] for peer in peers)):
                load = os.getloadavg()[0]
                done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
                if done.returncode:
                    sys.exit(done.stderr)
                told = json.loads(done.stdout)
                if command[0] == heatsolve:
                    told = {"peer": "heatsolve", "points": points, "iterations": told["steady_iterations"],
                            "residual": told["steady_residual"], "seconds": told["seconds"]}  # fmt: skip
                print(f"load {load:.1f}", json.dumps(told), flush=True)


main()
