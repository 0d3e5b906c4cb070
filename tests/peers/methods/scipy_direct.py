"""SciPy: SDIRK2 steps with one factorisation by SuperLU; the steady state by one solve."""
import common


def answers(case):
    scipy, linalg = common.need("scipy"), common.need("scipy.sparse.linalg")
    C, A, b = case.equations()
    version = f"scipy {scipy.__version__}"

    def factorise(M):
        # minimum degree without pivoting, which a symmetric matrix does not need
        options = {"SymmetricMode": True}
        return linalg.splu(M.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options).solve

    if case.steady:
        yield "SciPy splu", version, 1, lambda: factorise(A)(b)
        return
    for steps in (20, 80):
        yield (
            "SciPy splu, SDIRK2",
            version,
            steps,
            lambda steps=steps: common.sdirk2(C, A, b, case.start[case.free], case.end, steps, factorise),
        )


if __name__ == "__main__":
    common.main(__file__, answers)
