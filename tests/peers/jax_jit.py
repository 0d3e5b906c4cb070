"""JAX: slices of an array and an update of its inside, compiled by jax.jit."""
import os

import common

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")


class Jit:
    def __init__(self, case):
        self.jax = jax = common.need("jax")
        jax.config.update("jax_enable_x64", case.precision == "double")
        try:
            device = jax.devices("gpu" if case.backend == "cuda" else "cpu")[
                case.device if case.backend == "cuda" else 0
            ]
        except RuntimeError as error:
            raise common.Absent("this JAX sees no GPU") from error
        jax.config.update("jax_default_device", device)
        self.where = device
        self.version = f"jax {jax.__version__}"
        self.device = device.device_kind
        inside, c = common.inside(case.dims), case.c
        self.step = jax.jit(
            lambda field: field.at[inside].set(common.weighted_sum(field, c)), donate_argnums=0
        )
        self.field = None

    def put(self, array):
        self.field = self.jax.device_put(array, self.where)

    def sweep(self, count):
        for _ in range(count):
            self.field = self.step(self.field)

    def wait(self):
        self.field.block_until_ready()

    def get(self):
        return self.jax.device_get(self.field)


if __name__ == "__main__":
    common.main(__file__, Jit)
