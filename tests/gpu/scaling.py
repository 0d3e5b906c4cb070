"""Tests ranks on several GPUs of one machine: whether the bits agree, how runs end, and how they scale.

usage: scaling.py PROGRAM DIRECTORY [--ranks 1,2,4] [--part PART,...] [--seconds N] [--mpirun "COMMAND ..."]
                  [--peer PROGRAM] [--repeats N] [--at-once N] [--backend NAME] [--scale N] [--only PATTERN]

PROGRAM is heatsolve-mpi. --ranks: by default 1, 2, 4, ... up to the GPUs that nvidia-smi lists. The parts, in this
order:

  wire     exchanges layers by NCCL alone, in a ring and in a chain (tests/gpu/wire.c, by make MPI=yes gpu-tests)
  bits     every kernel that fuses sweeps and one that does not, walls and periodic axes, stencils and bodies, euler and
           rkl2: a run's datasets on each number of ranks with overlap, and on the most without, against those of one
  ends     kills a rank: all ranks end, and the file's snapshots are those of one rank. Sends SIGUSR1: the run is saved,
           and resumed on another number of ranks it gives what one rank gives without a break
  scaling  rates by `check --json`, with and without overlap, with one sweep an exchange and with as many as a kernel
           fuses, to DIRECTORY/scaling.csv: weak 512^3 float and 1024^3 double for each rank, strong 1024^3 float; rkl2;
           16384^2 float
  peer     rates of the program --peer, nccl_overlap of NVIDIA's multi-gpu-programming-models, to the same file:
           16384^2 float, weak and strong, without its check of convergence; left out without --peer

Parts that are not reached within --seconds are named, and count as failed. --backend cpu --scale 16 tries out the
script itself, with grids that much smaller.
"""

import argparse
import concurrent.futures
import csv
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import time

import h5py

LIMIT = 120  # s, for runs of some seconds: a run that hangs fails
ENVIRONMENT = {
    "OMP_NUM_THREADS": "4",  # several runs share the machine
    **os.environ,
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "NCCL_NVLS_ENABLE": "0",
}


class Trouble(Exception):
    pass


# ---- cases ----------------------------------------------------------------------------------------

WALLS = {
    "walls": 'x_min = { type = "dirichlet"; value = 310.0; }; z_min = { type = "robin"; h = 20.0; ambient = 280.0; };',
    "changing": 'x_min = { type = "dirichlet"; value = "310 + 5*y + t"; }; y_max = { type = "neumann"; flux = "30*x*t"; };',
    "periodic": " ".join(f'{axis}_{end} = {{ type = "periodic"; }};' for axis in "xyz" for end in ("min", "max")),
}
MATERIAL = "material = { conductivity = 2.0; density = 1e3; specific_heat = 4.0; };\n"
BODY = (
    'materials = ( { name = "a"; conductivity = 2.0; density = 1e3; specific_heat = 4.0; },\n'
    '              { name = "b"; conductivity = 0.1; density = 2e3; specific_heat = 4.0; } );\n'
    'body = ( { material = "a"; }, { material = "b"; shape = "sphere"; centre = [0.5, 0.4, 0.5]; radius = 0.3; } );\n'
)
POINTS = {1: [70001], 2: [264, 1101], 3: [96, 180, 131]}
SOURCE = 'source = { expression = "1e-2*exp(-30*(x - 0.5)^2 - 30*(y - 0.5 - 0.01*t)^2)"; };\n'

# kernel, dims, radius, other settings
BITS = [
    ("fused_march_3d", 3, 1, ""),
    ("fused_fields_3d", 3, 1, SOURCE),
    ("fused_radius2_3d", 3, 2, ""),
    ("temporal_3d", 3, 1, ""),
    ("conduction_fused", 3, 1, BODY),
    ("fused_march_2d", 2, 1, ""),
    ("temporal_2d", 2, 1, ""),
    ("fused_line_1d", 1, 1, ""),
    ("resident", 2, 1, ""),
    ("bulk_march", 3, 1, ""),
    ("conduction_bulk", 3, 1, BODY),
]
ON_CPU = [("wavefront", 3, 1, ""), ("openmp", 2, 2, ""), ("conduction_wavefront", 3, 1, BODY)]


def faces(walls, dims):
    """The faces of the axes that the grid has."""
    return " ".join(face for face in re.findall(r"\w+_\w+ = \{.*?\};", WALLS[walls]) if face[0] in "xyz"[:dims])


def bits_config(kernel, dims, radius, more, walls, precision, time_, points, backend):
    material = "" if "body" in more else MATERIAL
    waves = "300 + 20*sin(5*x)" + "*cos(7*y)" * (dims > 1) + "+ 3*sin(9*z)" * (dims > 2)
    return (
        f'precision = "{precision}";\ngrid = {{ points = {points or POINTS[dims]}; upper = {[1.0] * dims}; lower = {[0.0] * dims}; }};\n'
        f'{material}{more}stencil = {{ radius = {radius}; }};\n'
        f'initial = {{ expression = "{waves}"; }};\nboundary = {{ {faces(walls, dims)} }};\n'
        f'{time_}solver = {{ backend = "{backend}"; kernel = "{kernel}"; }};\n'
    )


def rate_config(points, precision, kernel, method, backend):
    """Cells of 1 m, so every grid has the same step. The field is uniform: no heat flows, which does not change the
    rate."""
    time_ = 'time = { end = 1e6; step = 3.0; method = "rkl2"; };\n' if method == "rkl2" else "time = { sweeps = 1000000; };\n"
    return (
        f'precision = "{precision}";\ngrid = {{ points = {points}; spacing = 1.0; }};\n'
        "material = { conductivity = 1.0; density = 1.0; specific_heat = 1.0; };\n"
        'initial = { value = 300.0; };\nboundary = { all = { type = "dirichlet"; value = 300.0; }; };\n'
        f'{time_}solver = {{ backend = "{backend}"; kernel = "{kernel}"; }};\n'
    )


# ---- runs -------------------------------------------------------------------------------------------


class Ranks:
    def __init__(self, arguments):
        self.program, self.mpirun = arguments.program.resolve(), shlex.split(arguments.mpirun)
        self.until = time.monotonic() + arguments.seconds

    def late(self):
        return time.monotonic() > self.until

    def start(self, ranks, *command, **environment):
        command = [*self.mpirun, "--oversubscribe", "--bind-to", "none", "-n", str(ranks), self.program, *command]
        return subprocess.Popen(
            command, env={**ENVIRONMENT, **environment}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )

    def wait(self, process):
        """Exit code, standard output, standard error."""
        try:
            out, err = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired as hang:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise Trouble(f"no end after {LIMIT} s") from hang
        return process.returncode, out, err

    def run(self, ranks, *command, **environment):
        code, out, err = self.wait(self.start(ranks, *command, **environment))
        if code:
            raise Trouble(f"{ranks} ranks: exit {code}: {err.strip()[-300:]}")
        return out


def datasets(path):
    found = {}
    with h5py.File(path) as file:
        file.visititems(lambda name, what: found.update({name: what[...].tobytes()}) if isinstance(what, h5py.Dataset) else None)
    return found


# ---- wire ---------------------------------------------------------------------------------------------


def wire(ranks, arguments):
    """Runs the program `wire`, which is built beside PROGRAM."""
    others, failed = Ranks(arguments), 0
    others.program = ranks.program.parent / "tests/gpu/wire"
    for n in sorted({1, *arguments.ranks}):
        try:
            print(others.run(n).strip(), flush=True)
        except (Trouble, OSError) as trouble:
            print(f"wire: {trouble}", flush=True)
            failed += 1
    return failed


# ---- bits ---------------------------------------------------------------------------------------------


def bits_cases(kernels):
    """(name, config without the backend): each kernel with walls and with periodic axes, in either precision."""
    for kernel, dims, radius, more in kernels:
        for walls, precision in (("walls", "float"), ("periodic", "double"), ("changing", "double")):
            if walls == "changing" and kernel not in ("fused_fields_3d", "temporal_3d", "conduction_bulk", "wavefront"):
                continue
            time_ = "time = { sweeps = 101; };\noutput = { every = 25; history_every = 10; };\n"
            yield f"{kernel} {walls} {precision}", (kernel, dims, radius, more, walls, precision, time_, None)
    if kernels is BITS:  # enough blocks to split calls in two, with the exchange beside the second part
        yield "fused_march_3d large", ("fused_march_3d", 3, 1, "", "walls", "float", "time = { sweeps = 403; };\n", [600, 500, 400])
    for kernel in ("fused_march_3d", "conduction_fused") if kernels is BITS else ("openmp",):
        more = BODY if "conduction" in kernel else ""
        time_ = 'time = { end = 2.0; step = 0.2; method = "rkl2"; };\noutput = { interval = 1.0; };\n'
        yield f"rkl2 {kernel} double", (kernel, 3, 1, more, "walls", "double", time_, None)


def try_bits(ranks, counts, directory, name, config):
    """The difference or the trouble; empty if there is none."""
    place = directory / re.sub(r"\W+", "-", name)
    place.mkdir(parents=True, exist_ok=True)
    (place / "case.cfg").write_text(config)
    ways = [(1, "false")] + [(n, "true") for n in counts if n > 1] + [(max(counts), "false")]
    try:
        for n, overlap in ways:
            output = place / f"{n}-{overlap}.h5"
            ranks.run(n, "run", place / "case.cfg", "--quiet", "--overwrite", "--output", output, "--set", f"solver.overlap={overlap}")
            found = datasets(output)
            if n == 1:
                due = found
                continue
            different = sorted(key for key in due if found.get(key) != due[key])
            if different or found.keys() != due.keys():
                return f"{n} ranks, overlap {overlap}: {', '.join(different) or 'other datasets'} differ"
            output.unlink()
        return ""
    except (Trouble, OSError) as trouble:
        return f"{n} ranks, overlap {overlap}: {trouble}"
    finally:
        for left in place.glob("*.h5"):
            left.unlink()


def bits(ranks, arguments):
    failed = 0
    cases = [(name, bits_config(*case, arguments.backend)) for name, case in bits_cases(ON_CPU if arguments.backend == "cpu" else BITS)]
    cases = [case for case in cases if re.search(arguments.only, case[0])]

    def judge(case):
        name, config = case
        return name, "not reached" if ranks.late() else try_bits(ranks, arguments.ranks, arguments.directory / "bits", name, config)

    with concurrent.futures.ThreadPoolExecutor(arguments.at_once) as pool:
        for name, wrong in pool.map(judge, cases):
            print(f"bits: {name}: {wrong or 'the same'}", flush=True)
            failed += bool(wrong)
    return failed


# ---- ends ---------------------------------------------------------------------------------------------


def ranks_of(process):
    """The process ids of the ranks, in the order of rank."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1]) == process.pid:
                environment = (entry / "environ").read_bytes()
                found.append((int(environment.split(b"OMPI_COMM_WORLD_RANK=")[1].split(b"\0")[0]), int(entry.name)))
        except (OSError, IndexError):
            pass
    return [number for _, number in sorted(found)]


def snapshots(path):
    try:
        with h5py.File(path) as file:
            return len(file["temperature"])
    except (OSError, KeyError):
        return 0


def long_run(ranks, n, place, every, backend, kernel):
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    time_ = f"time = {{ sweeps = {1000 * every}; }};\noutput = {{ every = {every}; }};\n"
    (place / "case.cfg").write_text(bits_config(kernel, 3, 1, "", "walls", "float", time_, None, backend))
    process = ranks.start(n, "run", place / "case.cfg", "--quiet", "--output", place / "a.h5", "--set", "solver.overlap=true")
    begun = time.monotonic()
    while snapshots(place / "a.h5") < 3:
        time.sleep(0.05)
        if process.poll() is not None or time.monotonic() > begun + LIMIT:
            raise Trouble(f"no run: {ranks.wait(process)[2]}")
    return process


def killed(ranks, n, place, backend, kernel):
    every = 2000 if backend == "cuda" else 20
    process = long_run(ranks, n, place, every, backend, kernel)
    os.kill(ranks_of(process)[-1], signal.SIGKILL)
    code, _, _ = ranks.wait(process)
    with h5py.File(place / "a.h5") as file:
        fields = file["temperature"][:6]
    if code == 0 or len(fields) < 2:
        return f"exit {code}, {len(fields)} snapshots"
    ranks.run(1, "run", place / "case.cfg", "--quiet", "--output", place / "one.h5", "--set", f"time.sweeps={every * (len(fields) - 1)}")
    with h5py.File(place / "one.h5") as file:
        same = file["temperature"][...].tobytes() == fields.tobytes()
    return "" if same else "its snapshots are not those of one rank"


def stopped(ranks, n, place, backend, kernel):
    every = 2000 if backend == "cuda" else 20
    process = long_run(ranks, n, place, every, backend, kernel)
    os.kill(ranks_of(process)[-1], signal.SIGUSR1)  # to a rank itself: not every mpirun forwards the signal
    code, _, err = ranks.wait(process)
    if code != 130 or "SIGUSR1" not in err:
        return f"exit {code}: {err.strip()[-300:]}"
    with h5py.File(place / "a.checkpoint.h5") as file:
        end = f"time.sweeps={int(file.attrs['sweep']) + 3000 * every // 2000}"
    for other in (1, max(n // 2, 2)):
        for left in place.glob("a*.h5"):
            shutil.copy(left, place / left.name.replace("a", f"on{other}", 1))
        output = place / f"on{other}.h5"
        ranks.run(other, "run", place / "case.cfg", "--quiet", "--output", output, "--resume", "--set", end)
        with h5py.File(output) as file:
            found = file["temperature"][-1].tobytes()
        if other == 1:
            ranks.run(1, "run", place / "case.cfg", "--quiet", "--output", place / "one.h5", "--set", end, "--set", "output.every=1000000000")
            with h5py.File(place / "one.h5") as file:
                due = file["temperature"][-1].tobytes()
        if found != due:
            return f"resumed on {other} ranks it ends elsewhere"
    return ""


def ends(ranks, arguments):
    failed, n = 0, max(arguments.ranks)
    kernel = "fused_march_3d" if arguments.backend == "cuda" else "wavefront"
    for name, judge in (("a rank killed", killed), ("SIGUSR1 and resume", stopped)):
        try:
            wrong = "not reached" if ranks.late() else judge(ranks, n, arguments.directory / "ends", arguments.backend, kernel)
        except (Trouble, OSError, KeyError) as trouble:
            wrong = str(trouble)
        print(f"ends: {name}: {wrong or 'as one rank'}", flush=True)
        failed += bool(wrong)
    shutil.rmtree(arguments.directory / "ends", ignore_errors=True)
    return failed


# ---- scaling --------------------------------------------------------------------------------------------

# name, strong?, dims, points along an axis (of one rank, or of all), precision, kernel, method
SCALES = [
    ("weak 512 float", False, 3, 512, "float", "fused_march_3d", "euler"),
    ("strong 1024 float", True, 3, 1024, "float", "fused_march_3d", "euler"),
    ("weak 1024 double", False, 3, 1024, "double", "fused_march_3d", "euler"),
    ("weak 512 float, one sweep", False, 3, 512, "float", "bulk_march", "euler"),
    ("weak 512 float, rkl2", False, 3, 512, "float", "fused_march_3d", "rkl2"),
    ("weak 256 float", False, 3, 256, "float", "fused_march_3d", "euler"),
    ("weak 512 body", False, 3, 512, "float", "auto", "euler"),
    ("weak 16384 float, 2D", False, 2, 16384, "float", "fused_march_2d", "euler"),
    ("strong 16384 float, 2D", True, 2, 16384, "float", "fused_march_2d", "euler"),
]
HEAD = "case ranks points precision kernel method overlap points_per_second efficiency all".split()


class Table:
    """Writes rows as they are measured, and keeps the rates of one rank, with which those of more are compared."""

    def __init__(self, path):
        self.file = open(path, "w", newline="")
        self.rows = csv.writer(self.file, lineterminator="\n")
        self.rows.writerow(HEAD)
        self.alone = {}

    def add(self, scale, n, points, overlap, found):
        name, strong, _, _, precision, _, method = scale
        rates = [one["points_per_second"] for one in found]
        rate = statistics.median(rates)
        if n == 1:
            self.alone[name] = rate
        efficiency = rate / (n * self.alone[name]) if name in self.alone else float("nan")
        self.rows.writerow(
            [name, n, "x".join(map(str, points)), precision, found[0]["kernel"], method, overlap, f"{rate:.5g}"]
            + [f"{efficiency:.4f}", " ".join(f"{one:.5g}" for one in rates)]
        )
        self.file.flush()
        told = f"{efficiency * n:.2f} times one" if strong else f"efficiency {efficiency:.3f}"
        print(f"{name}, {n} ranks, overlap {overlap or '-'}: {1e-9 * rate:.1f} GCell/s, {told}", flush=True)


def measure(ranks, arguments, table, scale, n, overlap):
    """1 if the measurement failed, else 0."""
    name, strong, dims, size, precision, kernel, method = scale
    if not re.search(arguments.only, name):
        return 0
    size //= arguments.scale
    points = [size] * (dims - 1) + [size * (1 if strong else n)]
    if arguments.backend == "cpu":
        kernel = "conduction_wavefront" if "body" in name else "wavefront" if dims == 3 else "openmp"
    path = arguments.directory / "rate.cfg"
    config = rate_config(points, precision, kernel, method, arguments.backend)
    if "body" in name:  # layers of two materials
        box = f'shape = "box"; lower = [0.0, 0.0, 0.0]; upper = [{size}.0, {size}.0, {size // 2}.0];'
        config = re.sub(
            r"material = .*",
            'materials = ( { name = "a"; conductivity = 1.0; density = 1.0; specific_heat = 1.0; },\n'
            '              { name = "b"; conductivity = 0.5; density = 1.0; specific_heat = 1.0; } );\n'
            f'body = ( {{ material = "a"; }}, {{ material = "b"; {box} }} );',
            config,
        )
    path.write_text(config)
    try:
        found = []
        for _ in range(arguments.repeats):
            if ranks.late():
                raise Trouble("not reached")
            found.append(json.loads(ranks.run(n, "check", path, "--json", "--set", f"solver.overlap={overlap}")))
        table.add(scale, n, points, overlap if n > 1 else "", found)
        return 0
    except (Trouble, ValueError) as trouble:
        print(f"{name}, {n} ranks, overlap {overlap}: {trouble}", flush=True)
        return 1


def scaling(ranks, arguments, table):
    failed = 0
    for scale in SCALES:
        for n in sorted({1, *arguments.ranks}):
            for overlap in ("false", "true") if n > 1 else ("false",):
                failed += measure(ranks, arguments, table, scale, n, overlap)
    return failed


def peer(ranks, arguments, table):
    failed, others = 0, Ranks(arguments)
    others.program = arguments.peer and arguments.peer.resolve()
    for name, strong in (("weak 16384 float, 2D, nccl_overlap", False), ("strong 16384 float, 2D, nccl_overlap", True)):
        for n in sorted({1, *arguments.ranks}) if arguments.peer else ():
            points, sweeps = (16384, 16384 * (1 if strong else n)), 1000
            settings = {"-nx": points[0], "-ny": points[1], "-niter": sweeps, "-nccheck": 10 * sweeps}
            try:
                if ranks.late():
                    raise Trouble("not reached")
                out = others.run(n, "-csv", *[str(word) for pair in settings.items() for word in pair])
                seconds = float(out.split(",")[7])  # its name, nx, ny, sweeps, check, GPUs, 1, s, s on one GPU
                rate = (points[0] - 2) * (points[1] - 2) * sweeps / seconds
                found = [{"points_per_second": rate, "kernel": "nccl_overlap"}]
                table.add((name, strong, 2, 16384, "float", "", "jacobi"), n, points, "true" if n > 1 else "", found)
            except (Trouble, OSError, ValueError, IndexError) as trouble:
                print(f"{name}, {n} ranks: {trouble}", flush=True)
                failed += 1
    return failed


# ---- all ------------------------------------------------------------------------------------------------


def gpus():
    try:
        return len(subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True).stdout.splitlines())
    except OSError:
        return 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--ranks", default="")
    parser.add_argument("--part", default="wire,bits,ends,scaling,peer")
    parser.add_argument("--peer", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=560.0)
    parser.add_argument("--mpirun", default="mpirun")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--at-once", type=int, default=4)
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--scale", type=int, default=1)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    powers = [1 << n for n in range(9) if 1 << n <= max(gpus(), 1)]
    arguments.ranks = [int(n) for n in arguments.ranks.split(",")] if arguments.ranks else powers
    arguments.directory.mkdir(parents=True, exist_ok=True)
    ranks, table = Ranks(arguments), Table(arguments.directory / "scaling.csv")
    parts = {
        "wire": lambda: wire(ranks, arguments),
        "bits": lambda: bits(ranks, arguments),
        "ends": lambda: ends(ranks, arguments),
        "scaling": lambda: scaling(ranks, arguments, table),
        "peer": lambda: peer(ranks, arguments, table),
    }
    failed = 0
    for part in arguments.part.split(","):
        begun = time.monotonic()
        failed += parts[part]()
        print(f"{part}: {time.monotonic() - begun:.0f} s", flush=True)
    print(f"{failed} failed")
    return failed > 0


sys.exit(main())
