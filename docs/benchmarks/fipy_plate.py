"""Compares heatsolve with FiPy on a plate of two materials: the numbers of both, and the time each takes.

usage: fipy_plate.py HEATSOLVE [CELLS,...]

Needs FiPy, SciPy and h5py (pip install fipy scipy h5py). The plate is 0.1 m square and made of steel, with a block of
an insulator in it. Two sides are held at 100 and 0, the others are insulated. heatsolve has its nodes at the corners of
FiPy's cells, so the interface lies on faces of FiPy's control volumes and on nodes of heatsolve. heatsolve's field is
compared with the mean of the four FiPy cells around each node, but only where all four are of one material: on the
interface, where the gradient jumps, the mean of the cells is not the temperature. The corners of the block are
singular, so near them both programs have an order below 2.
"""

import os
import subprocess
import sys
import tempfile
import time

os.environ["FIPY_SOLVERS"] = "scipy"
import fipy  # noqa: E402
import h5py  # noqa: E402
import numpy as np  # noqa: E402

SIDE, END = 0.1, 100.0  # m, s
FINEST = 256  # cells along a side of the reference grid
BLOCK = (0.025, 0.0625, 0.025, 0.075)  # x from, to; y from, to [m]
STEEL = (50.0, 7900.0, 477.0)  # W/(m K), kg/m^3, J/(kg K)
INSULATOR = (0.5, 500.0, 1500.0)

CONFIG = """
grid = {{ points = [{n}, {n}]; upper = [{side}, {side}]; }};
materials = (
    {{ name = "steel"; conductivity = {steel[0]}; density = {steel[1]}; specific_heat = {steel[2]}; }},
    {{ name = "insulator"; conductivity = {other[0]}; density = {other[1]}; specific_heat = {other[2]}; }} );
body = ( {{ material = "steel"; }},
         {{ material = "insulator"; shape = "box"; lower = [{block[0]}, {block[2]}]; upper = [{block[1]}, {block[3]}]; }} );
initial = {{ value = 0.0; }};
boundary = {{ all = {{ type = "reflective"; }};
             x_min = {{ type = "dirichlet"; value = 100.0; }}; x_max = {{ type = "dirichlet"; value = 0.0; }}; }};
time = {{ end = {end}; }};
output = {{ file = "plate.h5"; overwrite = true; }};
"""


def by_heatsolve(program, cells, folder):
    """The field at the nodes, the number of sweeps, and the wall time of the command [s]."""
    config = os.path.join(folder, "plate.cfg")
    with open(config, "w") as file:
        file.write(CONFIG.format(n=cells + 1, side=SIDE, steel=STEEL, other=INSULATOR, block=BLOCK, end=END))
    begin = time.perf_counter()
    subprocess.run([program, "run", config, "--quiet", "--output", os.path.join(folder, "plate.h5")], check=True)
    seconds = time.perf_counter() - begin
    with h5py.File(os.path.join(folder, "plate.h5")) as file:
        return file["temperature"][-1], int(file["sweep"][-1]), seconds


def around(field):
    """The mean of the four cells around each interior node."""
    return 0.25 * (field[1:, 1:] + field[1:, :-1] + field[:-1, 1:] + field[:-1, :-1])


def by_fipy(cells, steps, implicit):
    """Cell means at the interior nodes, a mask of the nodes that lie in one material, and the seconds of the steps."""
    h = SIDE / cells
    mesh = fipy.Grid2D(nx=cells, ny=cells, dx=h, dy=h)
    x, y = mesh.cellCenters.value
    block = (x > BLOCK[0]) & (x < BLOCK[1]) & (y > BLOCK[2]) & (y < BLOCK[3])
    conductivity = fipy.CellVariable(mesh=mesh, value=np.where(block, INSULATOR[0], STEEL[0]))
    capacity = fipy.CellVariable(mesh=mesh, value=np.where(block, INSULATOR[1] * INSULATOR[2], STEEL[1] * STEEL[2]))
    temperature = fipy.CellVariable(mesh=mesh, value=0.0)
    temperature.constrain(100.0, mesh.facesLeft)
    temperature.constrain(0.0, mesh.facesRight)
    term = fipy.DiffusionTerm if implicit else fipy.ExplicitDiffusionTerm
    equation = fipy.TransientTerm(coeff=capacity) == term(coeff=conductivity.harmonicFaceValue)
    solver = fipy.LinearPCGSolver(tolerance=1e-10, iterations=1000)
    begin = time.perf_counter()
    for _ in range(steps):
        equation.solve(var=temperature, dt=END / steps, solver=solver)
    seconds = time.perf_counter() - begin
    field, kind = temperature.value.reshape(cells, cells), block.reshape(cells, cells).astype(float)
    return around(field), np.isin(around(kind), (0.0, 1.0)), seconds


def main():
    program = os.path.abspath(sys.argv[1])
    sizes = [int(n) for n in sys.argv[2].split(",")] if len(sys.argv) > 2 else [16, 32, 64]
    with tempfile.TemporaryDirectory() as folder:
        finest, _, _ = by_heatsolve(program, FINEST, folder)
    print(f"mean distance [K] of each from heatsolve with {FINEST} x {FINEST} cells, and of the two from each other")
    print("       heatsolve                FiPy explicit                          implicit")
    print("cells  sweeps seconds distance  seconds distance  both: mean largest    steps seconds distance")
    for cells in sizes:
        with tempfile.TemporaryDirectory() as folder:
            field, sweeps, seconds = by_heatsolve(program, cells, folder)
        best, ours = finest[:: FINEST // cells, :: FINEST // cells][1:-1, 1:-1], field[1:-1, 1:-1]
        explicit, within, explicit_seconds = by_fipy(cells, sweeps, False)
        implicit, _, implicit_seconds = by_fipy(cells, sweeps // 10, True)

        def apart(one, other):
            return np.abs(one - other)[within]

        print(
            f"{cells:5d} {sweeps:7d} {seconds:7.2f} {apart(ours, best).mean():8.4f}"
            f" {explicit_seconds:8.2f} {apart(explicit, best).mean():8.4f}"
            f" {apart(ours, explicit).mean():11.4f} {apart(ours, explicit).max():7.3f}"
            f" {sweeps // 10:8d} {implicit_seconds:7.2f} {apart(implicit, best).mean():8.4f}",
            flush=True,
        )


main()
