"""CuPy: slices of an array, fused into one kernel by cupy.fuse."""
import common


def make_sum(c):
    """A function with one argument per coefficient; the fused kernel is named after it."""
    if len(c) == 3:

        def stencil_sum(a, b, d):
            return c[0] * a + c[1] * b + c[2] * d

    elif len(c) == 5:

        def stencil_sum(a, b, d, e, f):
            return c[0] * a + c[1] * b + c[2] * d + c[3] * e + c[4] * f

    else:

        def stencil_sum(a, b, d, e, f, g, h):
            return c[0] * a + c[1] * b + c[2] * d + c[3] * e + c[4] * f + c[5] * g + c[6] * h

    return stencil_sum


class Fused(common.OnCupy):
    def __init__(self, case):
        super().__init__(case)
        self.views = common.neighbours(case.dims)
        self.c = case.c
        self.sum = self.cupy.fuse(make_sum(case.c))

    def sweep(self, count):
        for _ in range(count):
            self.other[self.views[0]] = self.sum(*(self.field[view] for view in self.views))
            self.field, self.other = self.other, self.field


if __name__ == "__main__":
    common.main(__file__, Fused)
