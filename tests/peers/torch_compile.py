"""PyTorch: slices of a tensor, compiled by torch.compile."""
import common


class Compiled:
    def __init__(self, case):
        self.torch = torch = common.need("torch")
        self.cuda = case.backend == "cuda"
        if self.cuda and not torch.cuda.is_available():
            raise common.Absent("this PyTorch sees no GPU")
        if case.threads:
            torch.set_num_threads(case.threads)
        self.version = f"torch {torch.__version__}"
        self.where = torch.device("cuda", case.device) if self.cuda else torch.device("cpu")
        self.device = (
            torch.cuda.get_device_name(self.where) if self.cuda else f"{torch.get_num_threads()} threads"
        )
        self.field = self.other = None
        self.step = self.make_step(case)

    def make_step(self, case):
        """A step from one field to the other; the peers derived from this one have their own."""
        inside, c = common.inside(case.dims), [float(x) for x in case.c]

        def step(field, out):
            out[inside] = common.weighted_sum(field, c)

        return self.torch.compile(step, dynamic=False)

    def put(self, array):
        self.field = self.torch.from_numpy(array.copy()).to(self.where)
        self.other = self.field.clone()

    def sweep(self, count):
        with self.torch.no_grad():
            for _ in range(count):
                self.step(self.field, self.other)
                self.field, self.other = self.other, self.field

    def wait(self):
        if self.cuda:
            self.torch.cuda.synchronize(self.where)

    def get(self):
        return self.field.cpu().numpy()


if __name__ == "__main__":
    common.main(__file__, Compiled)
