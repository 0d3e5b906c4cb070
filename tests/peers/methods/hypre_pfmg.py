"""hypre: conjugate gradients with PFMG for the steady cube, on two MPI ranks. Its residual is in its own norm."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

import common

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "hypre_steady.c")


def main(case):
    if not case.steady:
        raise common.Absent("solves for steady states only")
    if not shutil.which("mpicc") or not shutil.which("mpirun"):
        raise common.Absent("needs mpicc and mpirun; on Debian: apt-get install libhypre-dev")
    with tempfile.TemporaryDirectory() as folder:
        flags = ["-O3", "-I/usr/include/hypre", SOURCE, "-lHYPRE", "-lm", "-o", f"{folder}/peer"]
        if subprocess.run(["mpicc", *flags], capture_output=True, check=False).returncode:
            raise common.Absent("does not compile; on Debian: apt-get install libhypre-dev")
        ranks = min(2, case.threads)
        root = ["--allow-run-as-root"] if os.getuid() == 0 else []
        command = ["mpirun", "--oversubscribe", *root, "-n", str(ranks), f"{folder}/peer"]
        command += [str(case.points[0]), "pfmg", str(case.tolerance)]
        told = [json.loads(subprocess.run(command, capture_output=True, check=True).stdout) for _ in range(3)]
    seconds = sorted(run["seconds"] for run in told)
    say = {"name": "hypre CG, PFMG", "version": f"hypre {told[0]['version']}", "device": f"{ranks} ranks"}
    say.update(steps=told[0]["iterations"], apart=told[0]["residual"], samples=len(seconds), seconds=seconds[1])
    say.update(seconds_min=seconds[0], seconds_max=seconds[-1])
    print(json.dumps(say), flush=True)


if __name__ == "__main__":
    try:
        main(common.Case(sys.argv[1:]))
    except common.Absent as why:
        print(json.dumps({"name": "hypre_pfmg", "absent": str(why)}))
