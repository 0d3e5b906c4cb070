"""PyTorch: slices of a tensor, one operation at a time."""
import common
from torch_compile import Compiled


class Eager(Compiled):
    def make_step(self, case):
        inside, c = common.inside(case.dims), [float(x) for x in case.c]

        def step(field, out):
            out[inside] = common.weighted_sum(field, c)

        return step


if __name__ == "__main__":
    common.main(__file__, Eager)
