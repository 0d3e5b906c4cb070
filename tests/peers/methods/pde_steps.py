"""py-pde's explicit and implicit Euler steps. Its cells are the free nodes and its virtual points beyond them have the
walls' temperature, so its equations are heatsolve's. Its loops are compiled before the timing."""
import math

import common


def answers(case):
    if not case.unit_cube or case.steady:
        raise common.Absent("cannot do this case" if not case.unit_cube else "has SciPy's direct solver for it")
    pde = common.need("pde")
    version = f"py-pde {pde.__version__}"
    n = case.points[0] - 2
    h = 1.0 / (n + 1)
    grid = pde.CartesianGrid([[0.5 * h, 1.0 - 0.5 * h]] * 3, n)
    equation = pde.DiffusionPDE(1.0, bc={"virtual_point": 0.0})
    start = pde.ScalarField(grid, case.start[case.free].reshape(n, n, n))
    longest = math.ceil(case.end / (0.9 * h * h / 6.0))

    def stepper_of(solver, steps):
        stepper = solver.make_stepper(start, dt=case.end / steps)
        stepper(start.copy(), 0.0, case.end / steps)  # compiles

        def go():
            field = start.copy()
            stepper(field, 0.0, case.end)
            return field.data.ravel()

        return go

    # the implicit steps are solved by an iteration that converges only for steps shorter than the stable explicit one
    for name, solver, counts in (
        ("py-pde explicit", pde.ExplicitSolver(equation, backend="numba"), (longest, 2 * longest)),
        ("py-pde implicit", pde.ImplicitSolver(equation, backend="numba", maxerror=1e-8), (4 * longest,)),
    ):
        for steps in counts:
            yield name, version, steps, stepper_of(solver, steps)


if __name__ == "__main__":
    common.main(__file__, answers)
