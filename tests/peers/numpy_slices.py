"""numpy: slices of an array, one temporary per operation."""
import common


class Slices:
    def __init__(self, case):
        self.numpy = common.need("numpy")
        if case.backend != "cpu":
            raise common.Absent("runs on the CPU only")
        self.c = case.c
        self.version = f"numpy {self.numpy.__version__}"
        self.device = "1 thread"
        self.field = self.other = None

    def put(self, array):
        self.field, self.other = array.copy(), array.copy()

    def sweep(self, count):
        for _ in range(count):
            self.other[common.inside(self.field.ndim)] = common.weighted_sum(self.field, self.c)
            self.field, self.other = self.other, self.field

    def wait(self):
        pass

    def get(self):
        return self.field


if __name__ == "__main__":
    common.main(__file__, Slices)
