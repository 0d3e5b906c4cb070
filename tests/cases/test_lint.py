"""The script of the include rule accepts this tree, and finds each kind of violation planted in a tree."""

import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / ".ci" / "check-includes"


def check(directory):
    return subprocess.run([SCRIPT, directory], capture_output=True, text=True)


def plant(directory, path, line):
    """A tree of one file with one include line at line 3."""
    file = directory / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"/* planted */\n#include <stdio.h>\n{line}\n")
    return file


def test_this_tree_keeps_the_rule():
    result = check(ROOT)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    "path, line",
    [
        ("src/core/grid.c", '#include "input/config.h"'),
        ("src/core/problem.c", '#include "functions/evaluate.h"'),
        ("src/functions/evaluate.c", '#include "input/expression.h"'),
        ("src/input/config.c", '#include "engine/plan.h"'),
        ("src/engine/loop.c", '#include "output/progress.h"'),
        ("src/engine/backends/cpu.c", '#include "commands/command.h"'),
        ("src/output/report.c", '#include "commands/command.h"'),
        ("src/output/report.c", '#include "kernels/cpu/common.h"'),
        ("src/output/report.c", '#include "snapshots.h"'),
        ("src/main.c", '#include "tests/test.h"'),
        ("kernels/cpu/openmp.c", '#include "engine/plan.h"'),
        ("kernels/cpu/openmp.c", '#include "kernels/cuda/common.h"'),
        ("kernels/cuda/basic.cu", '#include "other.cu"'),
        ("src/engine/loop.c", "#include <hdf5.h>"),
        ("src/input/config.c", "  #  include <H5Fpublic.h>"),
        ("src/engine/loop.c", "#include <hdf5_hl.h>"),
        ("src/input/expression.c", "#include <muParserDLL.h>"),
        ("src/output/snapshots.c", "#include <cairo.h>"),
        ("src/engine/backends/cpu.c", "#include <cuda_runtime.h>"),
    ],
)
def test_a_violation_is_found_with_its_place(tmp_path, path, line):
    plant(tmp_path, path, line)
    result = check(tmp_path)
    assert result.returncode == 1
    assert f"{path}:3: " in result.stdout


@pytest.mark.parametrize(
    "path, line",
    [
        ("src/output/snapshots.c", "#include <hdf5.h>"),
        ("src/input/field_file.c", "#include <hdf5.h>"),
        ("src/output/pictures/chart.c", "#include <cairo-svg.h>"),
        ("src/input/expression.c", '#include "functions/evaluate.h"'),
        ("src/main.c", '#include "commands/command.h"'),
        ("src/engine/registry.c", '#include "generated/kernels.h"'),
        ("kernels/cuda/basic.cu", '#include "kernels/cuda/common.h"'),
        ("kernels/cpu/openmp.c", '#include "core/kernel.h"'),
        ("kernels/cuda/temporal_2d.cu", '#include "temporal.cuh"'),
        ("src/engine/backends/cuda.cu", "#include <cuda_runtime.h>"),
    ],
)
def test_what_the_design_allows_passes(tmp_path, path, line):
    plant(tmp_path, path, line)
    result = check(tmp_path)
    assert result.returncode == 0, result.stdout


def test_a_path_of_a_machine_is_found(tmp_path):
    plant(tmp_path, "src/main.c", "/* see /" + "home/somebody/notes */")
    result = check(tmp_path)
    assert result.returncode == 1
    assert "src/main.c:3:" in result.stdout


def test_a_directory_without_sources_is_not_a_pass(tmp_path):
    assert check(tmp_path).returncode == 2
