"""SciPy's conjugate gradients, preconditioned by PyAMG's smoothed aggregation: SDIRK2 steps, and the steady state."""
import common


def answers(case):
    np, scipy, linalg = common.need("numpy"), common.need("scipy"), common.need("scipy.sparse.linalg")
    pyamg = common.need("pyamg")
    C, A, b = case.equations()
    version = f"scipy {scipy.__version__}, pyamg {pyamg.__version__}"
    iterations = []
    tolerance = case.tolerance if case.steady else 1e-8  # of each stage's solve

    def factorise(M):
        M = M.tocsr()
        M.indices, M.indptr = M.indices.astype(np.int32), M.indptr.astype(np.int32)  # PyAMG takes no other index type
        cycle = pyamg.smoothed_aggregation_solver(M).aspreconditioner()

        def solve(right):
            iterations[:] = [0]

            def count(_):
                iterations[0] += 1

            x, failed = linalg.cg(M, right, rtol=tolerance, M=cycle, callback=count)
            if failed:
                raise ValueError("CG does not converge")
            return x

        return solve

    if case.steady:
        factorise(A)(b)
        yield "SciPy CG, PyAMG", version, iterations[0], lambda: factorise(A)(b)
        return
    for steps in (10, 20, 40, 80):
        yield (
            "SciPy CG, PyAMG, SDIRK2",
            version,
            steps,
            lambda steps=steps: common.sdirk2(C, A, b, case.start[case.free], case.end, steps, factorise),
        )


if __name__ == "__main__":
    common.main(__file__, answers)
