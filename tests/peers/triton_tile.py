"""Triton: one program per tile of points of a plane; neighbours are loaded again for each point."""
import common


try:
    import triton
    import triton.language as tl
except ImportError:
    triton = None
else:

    @triton.jit
    def step(
        source,
        target,
        coefficients,
        nx,
        ny,
        nz,
        DIMS: tl.constexpr,
        X: tl.constexpr,
        Y: tl.constexpr,
    ):
        i = tl.program_id(0) * X + tl.arange(0, X)[None, :] + 1
        j = tl.program_id(1) * Y + tl.arange(0, Y)[:, None]
        k = tl.program_id(2).to(tl.int64)
        inside = i < nx - 1
        if DIMS > 1:
            j += 1
            inside = inside & (j < ny - 1)
        else:
            inside = inside & (j < 1)
        if DIMS > 2:
            k += 1
        at = (k * ny + j) * nx + i
        total = tl.load(coefficients) * tl.load(source + at, mask=inside)
        total += tl.load(coefficients + 1) * tl.load(source + at - 1, mask=inside)
        total += tl.load(coefficients + 2) * tl.load(source + at + 1, mask=inside)
        if DIMS > 1:
            total += tl.load(coefficients + 3) * tl.load(source + at - nx, mask=inside)
            total += tl.load(coefficients + 4) * tl.load(source + at + nx, mask=inside)
        if DIMS > 2:
            plane = nx.to(tl.int64) * ny
            total += tl.load(coefficients + 5) * tl.load(source + at - plane, mask=inside)
            total += tl.load(coefficients + 6) * tl.load(source + at + plane, mask=inside)
        tl.store(target + at, total, mask=inside)


class Tile:
    def __init__(self, case):
        if case.backend != "cuda":
            raise common.Absent("needs a GPU")
        common.need("triton")
        self.torch = torch = common.need("torch")
        if not torch.cuda.is_available():
            raise common.Absent("this PyTorch sees no GPU")
        torch.cuda.set_device(case.device)
        self.where = torch.device("cuda", case.device)
        self.version = f"triton {triton.__version__}"
        self.device = torch.cuda.get_device_name(self.where)
        self.dims = case.dims
        self.c = torch.tensor(case.c, device=self.where)
        self.tile = {1: (1024, 1), 2: (128, 8), 3: (128, 4)}[case.dims]
        self.field = self.other = None

    def put(self, array):
        self.field = self.torch.from_numpy(array.copy()).to(self.where)
        self.other = self.field.clone()

    def sweep(self, count):
        nx, ny, nz = (tuple(reversed(self.field.shape)) + (1, 1))[:3]
        x, y = self.tile
        grid = (-(-(nx - 2) // x), max(1, -(-(ny - 2) // y)), max(1, nz - 2))
        for _ in range(count):
            step[grid](
                self.field, self.other, self.c, nx, ny, nz, DIMS=self.dims, X=x, Y=y
            )
            self.field, self.other = self.other, self.field

    def wait(self):
        self.torch.cuda.synchronize(self.where)

    def get(self):
        return self.field.cpu().numpy()


if __name__ == "__main__":
    common.main(__file__, Tile)
