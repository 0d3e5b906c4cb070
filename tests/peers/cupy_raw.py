"""CuPy: a CUDA kernel given as source text, one thread per point."""
import common

SOURCE = r"""
extern "C" __global__ void sweep(const REAL *in, REAL *out, long long nx, long long ny, long long nz,
                                 REAL c0, REAL c1, REAL c2, REAL c3, REAL c4,
                                 REAL c5, REAL c6)
{
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x + 1;
    const long long j = blockIdx.y * (long long)blockDim.y + threadIdx.y + (DIMS > 1);
    const long long k = blockIdx.z * (long long)blockDim.z + threadIdx.z + (DIMS > 2);
    if (i >= nx - 1 || (DIMS > 1 && j >= ny - 1) || (DIMS > 2 && k >= nz - 1))
        return;
    const long long at = (k * ny + j) * nx + i;
    REAL sum = c0 * in[at] + c1 * in[at - 1] + c2 * in[at + 1];
    if (DIMS > 1)
        sum += c3 * in[at - nx] + c4 * in[at + nx];
    if (DIMS > 2)
        sum += c5 * in[at - nx * ny] + c6 * in[at + nx * ny];
    out[at] = sum;
}
"""


class Raw(common.OnCupy):
    def __init__(self, case):
        super().__init__(case)
        options = (f"-DREAL={case.precision}", f"-DDIMS={case.dims}")
        self.kernel = self.cupy.RawKernel(SOURCE, "sweep", options=options)
        self.c = case.c + [case.dtype(0)] * (7 - len(case.c))
        self.block = {1: (256, 1, 1), 2: (32, 8, 1), 3: (32, 4, 2)}[case.dims]

    def sweep(self, count):
        points = (tuple(reversed(self.field.shape)) + (1, 1))[:3]
        inner = [max(n - 2, 1) for n in points]
        grid = tuple(-(-n // b) for n, b in zip(inner, self.block))
        for _ in range(count):
            self.kernel(grid, self.block, (self.field, self.other, *points, *self.c))
            self.field, self.other = self.other, self.field


if __name__ == "__main__":
    common.main(__file__, Raw)
