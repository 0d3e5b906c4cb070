"""PyTorch: a convolution with a kernel of 3 points along each axis, most of them 0."""
import common
from torch_compile import Compiled


class Convolution(Compiled):
    def make_step(self, case):
        torch, dims = self.torch, case.dims
        if self.cuda:
            torch.backends.cudnn.allow_tf32 = False  # TF32 has too few digits: the proof would fail
        weight = torch.zeros((3,) * dims, dtype=getattr(torch, f"float{8 * case.dtype().itemsize}"))
        weight[(1,) * dims] = case.numbers[0]
        for n, number in enumerate(case.numbers[1:]):
            at = [1] * dims
            at[dims - 1 - n // 2] = 2 * (n % 2)
            weight[tuple(at)] = number
        weight = weight[None, None].to(self.where)
        convolve = getattr(torch.nn.functional, f"conv{dims}d")
        inside = common.inside(dims)

        def step(field, out):
            out[inside] = convolve(field[None, None], weight)[0, 0]

        return step


if __name__ == "__main__":
    common.main(__file__, Convolution)
