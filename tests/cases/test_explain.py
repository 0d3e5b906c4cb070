"""heatsolve explain prints the textbook's figures, and refuses what cannot be launched."""

import json
import os

import pytest
from program import heatsolve, must

CUBE = ["--points", "120,120,120"]
SQUARE = ["--points", "512,512"]


def explain(*arguments, **more):
    return heatsolve(".", "explain", *arguments, **more)


def figures(*arguments):
    result = explain(*arguments, "--json")
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


# Hwu, Kirk, El Hajj, Programming Massively Parallel Processors, 4th ed., ch. 8
TEXTBOOK = [
    (["basic", *CUBE, "--block", "8,8,8"], {"output_points": 1643032, "blocks": 3375, "intensity": 0.46}),
    (["shared_tile", *CUBE, "--block", "8,8,8"], {"output_points": 1643032, "blocks": 8000, "intensity": 1.37}),
    (["coarsened", *CUBE, "--block", "32,32", "--planes", "30"], {"blocks": 64}),
    (
        ["coarsened", *CUBE, "--block", "32,32", "--planes", "16"],
        {"points_loaded": 18432, "points_written": 14400, "intensity": 2.54, "shared_bytes": 12288},
    ),
    (
        ["register_tile", *CUBE, "--block", "32,32", "--planes", "16"],
        {"points_loaded": 18432, "points_written": 14400, "intensity": 2.54, "shared_bytes": 4096},
    ),
]


@pytest.mark.parametrize("arguments, due", TEXTBOOK, ids=lambda a: a[0] if isinstance(a, list) else "")
def test_the_textbooks_figures(arguments, due):
    seen = figures(*arguments)
    for key, value in due.items():
        # the textbook rounds to two decimals
        assert (round(seen[key], 2) if isinstance(value, float) else seen[key]) == value, key


def test_the_usual_blocks_are_the_textbooks():
    for arguments, _ in TEXTBOOK[:3]:
        assert figures(arguments[0], *CUBE) == figures(*arguments)


def test_points_mean_the_grid_that_bench_takes():
    assert figures("basic", "--points", "120") == figures("basic", *CUBE)
    assert figures("basic", "--points", "512", "--dims", "2") == figures("basic", *SQUARE)
    told = must(".", "bench", "--points", "17", "--kernel", "reference", "--repeats", "1", "--json")
    assert json.loads(told)["points"] == [17] * figures("basic", "--points", "17")["dims"]


def test_whole_columns_are_counted():
    """189 columns: 132 of them take one block each, each of the other 57 is split into two chunks."""
    case = ["fused_radius2_3d", "--points", "512,512,512", "--radius", "2", "--precision", "double", "--steps", "2"]
    seen = figures(*case)
    assert seen["shared"] and seen["blocks"] == 132 + 57 * 2
    assert "246 (9 x 21 x 2 tiles, shared)" in explain(*case).stdout
    assert not figures("basic", *CUBE)["shared"]


def test_strips_are_shared_by_all_multiprocessors():
    """50 strips are shared by 132 blocks, which have 6207 rows each on average, of one strip or two."""
    case = ["fused_march_2d", "--points", "16384,16384", "--precision", "double", "--steps", "24"]
    seen = figures(*case)
    assert seen["shared"] and seen["blocks"] == 132 and seen["block_grid"] == [50, 3, 1]
    assert seen["points_written"] == seen["output_tile"][0] * 6207
    assert "132 (50 x 3 x 1 tiles, shared)" in explain(*case).stdout


def test_of_two_cuts_that_take_as_long_the_one_with_shorter_blocks_is_taken():
    """For 9 x 9 columns of 520 planes 4 and 6 chunks are estimated alike; 6 were 4 % faster (many-gpus.md)."""
    assert figures("fused_march_3d", "--points", "512,512,520", "--steps", "4", "--device", "H200")["block_grid"] == [9, 9, 6]


def test_a_large_tile_tends_to_3_25():
    """One read per point, 13 operations per 4 bytes; 10 is the largest cube that a block can have."""
    seen = [figures("shared_tile", *CUBE, "--block", f"{t},{t},{t}")["intensity"] for t in (4, 6, 8, 10)]
    assert seen == sorted(seen)
    assert seen == [pytest.approx(3.25 * (1 - 2 / t) ** 3) for t in (4, 6, 8, 10)]


def test_without_a_kernel_all_that_can_do_it_have_a_line():
    names = {k["kernel"] for k in figures(*CUBE)["kernels"]}
    assert {"basic", "shared_tile", "coarsened", "register_tile", "march_halo", "vector_march"} <= names
    assert not names & {"tile_2d", "warp_shuffle"}
    lines = explain(*CUBE).stdout.splitlines()
    assert len(lines) == 1 + len(names)


def test_a_grid_beyond_the_chip_is_no_launch_of_resident():
    """Its blocks wait for each other, so each needs a multiprocessor of its own: an H200 has 132."""
    large = ["--points", "512,512,512"]
    assert figures("resident", "--points", "64,64,64", "--device", "H200")["blocks"] <= 132
    for device in ([], ["--device", "H200"]):
        assert "resident" not in {k["kernel"] for k in figures(*large, *device)["kernels"]}
        refused = explain("resident", *large, *device)
        assert refused.returncode == 2 and refused.stdout == ""
        assert "resident needs a grid that fits on the chip, on 132 multiprocessors, not 134217728" in refused.stderr
    # the plan depends on the device: a smaller one has fewer blocks, and room for smaller grids only
    few, full = ("resident", "--points", "96,96,96"), ("resident", "--points", "128,128,128")
    assert figures(*few, "--device", "H100-PCIe")["blocks"] <= 114 < figures(*few, "--device", "H200")["blocks"]
    assert "on 114 multiprocessors, not 2097152" in explain(*full, "--device", "H100-PCIe").stderr
    assert figures(*full, "--device", "H200")["blocks"] <= 132
    assert "compute capability 9" in explain("resident", "--points", "64,64,64", "--device", "A100").stderr


@pytest.mark.parametrize(
    "asked, able, unable",
    [
        (["--steps", "2"], "fused_march_3d", "basic"),
        (["--block", "8,8,8"], "shared_tile", "vector_march"),
        (["--planes", "16"], "coarsened", "basic"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_without_a_kernel_those_that_cannot_have_none(asked, able, unable):
    lines = explain(*CUBE, *asked).stdout.splitlines()[1:]
    names = {line.split()[0] for line in lines}
    assert able in names and unable not in names
    found = json.loads(explain(*CUBE, *asked, "--json").stdout)["kernels"]
    assert {kernel["kernel"] for kernel in found} == names


def test_occupancy_and_roofline_on_a_named_device():
    seen = figures("coarsened", *CUBE, "--device", "h200")
    assert seen["device"] == "H200"
    assert (seen["occupancy_blocks"], seen["occupancy_bound"]) == (2, "threads")
    # 8 bytes a point at 4.8 TB/s
    assert seen["roofline_seconds"] == pytest.approx(1643032 * 8 / 4.8e12)
    text = explain("coarsened", *CUBE, "--device", "h200").stdout
    assert "occupancy" in text and "roofline" in text and "2 blocks, 2048 threads" in text


def test_without_a_gpu_the_device_is_an_h200(tmp_path):
    cpu_only = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    said = [explain("basic", *CUBE, *more, env=cpu_only).stdout for more in ([], ["--device", "H200"], ["--registers", "200"])]
    assert said[0] == said[1] != said[2] and "occupancy" in said[0]


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["basic"], "--points"),
        (["basic", "--points", "120,,120"], "--points 120,,120"),
        (["basic", "--points", "2,9,9"], "at least 3 points"),
        (["basic", "--points", "9,9,9,9"], "\"9\" is one axis too many; give 256 for every axis, or 512,512,256"),
        (["basic", "--points", "3000000000,3000000000,3000000000"], "more than 1e+15 nodes; give fewer"),
        (["basc", *CUBE], "basic"),
        (["openmp", *CUBE], "CPU"),
        (["tile_2d", *CUBE], "tile_2d cannot do 3D, only 2D; kernels that can do what is asked: basic, bulk_march, "),
        (["--points", "99", "--radius", "2", "--steps", "40"], "no kernel has such a launch"),
        (["temporal_3d", *CUBE, "--radius", "3"], "cannot do radius 3, only radius 1 or radius 2"),
        (["basic", *CUBE, "--radius", "4"], "--radius 4"),
        (["basic", *CUBE, "--precision", "half"], "--precision half"),
        (["basic", *CUBE, "--block", "16,16,8"], "1024 threads"),
        (["basic", *CUBE, "--planes", "4"], "--planes"),
        (["coarsened", *CUBE, "--planes", "119"], "--planes 119: along z there are 118 to march through, without those held at both ends; give no more"),
        ([*CUBE, "--radius", "2", "--planes", "117"], "--planes 117: along z there are 116 to march through"),
        (["bulk_march", *SQUARE, "--planes", "511"], "--planes 511: along y there are 510 to march through"),
        (["shared_tile", *CUBE, "--block", "2,8,8"], "no output tile"),
        (["coarsened", *CUBE, "--block", "32,8,4"], "threads along 2 axes"),
        (["warp_shuffle", "--points", "999", "--dims", "1", "--block", "128"], "fixed block"),
        (["basic", *CUBE, "--device", "abacus"], "H200"),
        (["basic", *CUBE, "--steps", "2"], "fuses at most 1"),
        (["fused_march_2d", *SQUARE, "--steps", "11"], "fuses at most 10 in float"),
        (["fused_march_2d", *SQUARE, "--steps", "13", "--precision", "double"], "fuses no 13 sweeps in double, but 12"),
        (["fused_marc_2d", *SQUARE], "; did you mean fused_march_2d? There are basic,"),
        (["nothing_like_it", *SQUARE], "no such CUDA kernel; there are basic,"),
    ],
)
def test_what_is_no_launch_is_refused(arguments, message):
    result = explain(*arguments)
    assert result.returncode == 2
    assert result.stdout == ""
    assert message in result.stderr
