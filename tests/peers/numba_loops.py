"""Numba: loops over the points, compiled for the CPU's threads or with one thread per point for a GPU."""
import common


def cpu_step(numba, dims):
    if dims == 1:

        @numba.njit(parallel=True)
        def step(a, out, c):
            for i in numba.prange(1, a.shape[0] - 1):
                out[i] = c[0] * a[i] + c[1] * a[i - 1] + c[2] * a[i + 1]

    elif dims == 2:

        @numba.njit(parallel=True)
        def step(a, out, c):
            for j in numba.prange(1, a.shape[0] - 1):
                for i in range(1, a.shape[1] - 1):
                    out[j, i] = (
                        c[0] * a[j, i]
                        + c[1] * a[j, i - 1]
                        + c[2] * a[j, i + 1]
                        + c[3] * a[j - 1, i]
                        + c[4] * a[j + 1, i]
                    )

    else:

        @numba.njit(parallel=True)
        def step(a, out, c):
            for k in numba.prange(1, a.shape[0] - 1):
                for j in range(1, a.shape[1] - 1):
                    for i in range(1, a.shape[2] - 1):
                        out[k, j, i] = (
                            c[0] * a[k, j, i]
                            + c[1] * a[k, j, i - 1]
                            + c[2] * a[k, j, i + 1]
                            + c[3] * a[k, j - 1, i]
                            + c[4] * a[k, j + 1, i]
                            + c[5] * a[k - 1, j, i]
                            + c[6] * a[k + 1, j, i]
                        )

    return step


def gpu_step(cuda, dims):
    if dims == 1:

        @cuda.jit
        def step(a, out, c):
            i = cuda.grid(1) + 1
            if i < a.shape[0] - 1:
                out[i] = c[0] * a[i] + c[1] * a[i - 1] + c[2] * a[i + 1]

    elif dims == 2:

        @cuda.jit
        def step(a, out, c):
            i, j = cuda.grid(2)
            i += 1
            j += 1
            if i < a.shape[1] - 1 and j < a.shape[0] - 1:
                out[j, i] = (
                    c[0] * a[j, i]
                    + c[1] * a[j, i - 1]
                    + c[2] * a[j, i + 1]
                    + c[3] * a[j - 1, i]
                    + c[4] * a[j + 1, i]
                )

    else:

        @cuda.jit
        def step(a, out, c):
            i, j, k = cuda.grid(3)
            i += 1
            j += 1
            k += 1
            if i < a.shape[2] - 1 and j < a.shape[1] - 1 and k < a.shape[0] - 1:
                out[k, j, i] = (
                    c[0] * a[k, j, i]
                    + c[1] * a[k, j, i - 1]
                    + c[2] * a[k, j, i + 1]
                    + c[3] * a[k, j - 1, i]
                    + c[4] * a[k, j + 1, i]
                    + c[5] * a[k - 1, j, i]
                    + c[6] * a[k + 1, j, i]
                )

    return step


class Loops:
    def __init__(self, case):
        self.numba = numba = common.need("numba")
        self.version = f"numba {numba.__version__}"
        self.cuda = None
        self.field = self.other = None
        self.c = common.need("numpy").array(case.c)
        if case.backend == "cuda":
            from numba import cuda

            if not cuda.is_available():
                raise common.Absent("this Numba sees no GPU")
            cuda.select_device(case.device)
            self.cuda, self.c = cuda, cuda.to_device(self.c)
            name = cuda.get_current_device().name  # bytes in some versions
            self.device = name.decode() if isinstance(name, bytes) else name
            self.block = {1: (256,), 2: (32, 8), 3: (32, 4, 2)}[case.dims]
            self.step = gpu_step(cuda, case.dims)
        else:
            if case.threads:
                numba.set_num_threads(min(case.threads, numba.config.NUMBA_NUM_THREADS))
            self.device = f"{numba.get_num_threads()} threads"
            self.step = cpu_step(numba, case.dims)

    def put(self, array):
        if self.cuda:
            self.field, self.other = self.cuda.to_device(array), self.cuda.to_device(array)
        else:
            self.field, self.other = array.copy(), array.copy()

    def sweep(self, count):
        step = self.step
        if self.cuda:
            inner = [max(n - 2, 1) for n in reversed(self.field.shape)]
            step = step[tuple(-(-n // b) for n, b in zip(inner, self.block)), self.block]
        for _ in range(count):
            step(self.field, self.other, self.c)
            self.field, self.other = self.other, self.field

    def wait(self):
        if self.cuda:
            self.cuda.synchronize()

    def get(self):
        return self.field.copy_to_host() if self.cuda else self.field


if __name__ == "__main__":
    common.main(__file__, Loops)
