"""heatsolve render: pixels against the file's values, sizes, numbering, and errors."""

import ctypes
import ctypes.util
import os
import pathlib
import re
import shutil
import subprocess
import xml.etree.ElementTree

import h5py
import numpy as np
import pytest
from program import HEATSOLVE, heatsolve, must

GREY = (160, 160, 160)
INK = (38, 42, 48)
BLUE = (31, 90, 160)
PART = (184, 190, 200)


def write(path, temperature, axes, title="A plate", unit="K", time=None):
    """A file as `heatsolve run` writes it; axes in the order x, y, z."""
    temperature = np.asarray(temperature)
    with h5py.File(path, "w") as f:
        f.attrs["title"] = title
        f.create_dataset("temperature", data=temperature).attrs["units"] = unit
        time = np.arange(len(temperature), dtype=float) if time is None else time
        f.create_dataset("time", data=time).attrs["units"] = "s"
        for name, nodes in zip("xyz", axes):
            f.create_dataset(name, data=nodes).attrs["units"] = "m"
    return path


def render(*arguments, **environment):
    return heatsolve(".", "render", *map(str, arguments), env=dict(os.environ, **environment))


def draw(path, picture, *arguments, read=True, **options):
    result = render(path, "-o", picture, *arguments, **options)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    return read_png(picture) if read else result.stdout


class PngImage(ctypes.Structure):
    """png_image of libpng's simplified interface (png.h)."""

    _fields_ = [
        ("opaque", ctypes.c_void_p),
        *[(name, ctypes.c_uint32) for name in "version width height format flags entries".split()],
        ("warning_or_error", ctypes.c_uint32),
        ("message", ctypes.c_char * 64),
    ]


def read_png(path):
    """A PNG as RGB [height][width][3]."""
    png = ctypes.CDLL(ctypes.util.find_library("png16"))
    image = PngImage(version=1)
    assert png.png_image_begin_read_from_file(ctypes.byref(image), bytes(path)), image.message
    assert image.format == 2  # PNG_FORMAT_RGB: eight bits, no alpha
    out = np.empty((image.height, image.width, 3), np.uint8)
    data = out.ctypes.data_as(ctypes.c_void_p)
    assert png.png_image_finish_read(ctypes.byref(image), None, data, 0, None), image.message
    assert not image.warning_or_error, image.message
    return out.astype(int)


def longest_run(flags):
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(int), [0]])))
    return (edges[1::2] - edges[::2]).max(initial=0)


def long_lines(dark):
    """First and last index of each group of rows with a dark line nearly as long as the longest (a tick may extend
    one)."""
    lengths = np.array([longest_run(row) for row in dark])
    found = np.flatnonzero(lengths >= lengths.max() - 30)
    breaks = np.flatnonzero(np.diff(found) > 1)
    return list(zip(found[np.r_[0, breaks + 1]], found[np.r_[breaks, len(found) - 1]]))


def plot_area(image):
    """The area inside the frame: x, y, width, height, found from the frame's ink."""
    dark = (image == INK).all(axis=2)
    top, bottom = long_lines(dark)
    left, right = long_lines(dark.T)[:2]  # the frame of the colour bar follows
    return left[1] + 1, top[1] + 1, right[0] - left[1] - 1, bottom[0] - top[1] - 1


def colour_at(image, area, across, up):
    """The colour of the pixel at a place of the plot; across and up go from 0 to 1."""
    x, y, w, h = area
    i = min(int(across * w), w - 1)
    j = min(int((1 - up) * h), h - 1)
    return image[y + j, x + i]


def grey_of(value, lower, upper):
    return np.full(3, 255 * (value - lower) / (upper - lower))


def test_nodes_have_the_colour_of_their_values(tmp_path):
    values = np.random.default_rng(1).uniform(300, 400, (1, 5, 8))
    values[0, 0, 0], values[0, 4, 7] = 300, 400
    path = write(tmp_path / "a.h5", values, [np.linspace(0, 0.7, 8), np.linspace(0, 0.4, 5)])
    image = draw(path, tmp_path / "a.png", "--map", "gray")
    area = plot_area(image)
    for j in range(5):
        for i in range(8):
            # a pixel's centre is at most half a pixel from the node in each direction, 1/150 of the way to the next
            # node (the plot is over 1000 pixels wide for 7 spacings); and rounding
            seen = colour_at(image, area, i / 7, j / 4)
            assert np.abs(seen - grey_of(values[0, j, i], 300, 400)).max() <= 255 / 75 + 0.5
    # between nodes it is linear
    middle = values[0, 2:4, 3:5].mean()
    assert np.abs(colour_at(image, area, 3.5 / 7, 2.5 / 4) - grey_of(middle, 300, 400)).max() <= 4


def test_a_picture_has_true_proportions_and_the_size_asked_for(tmp_path):
    path = write(
        tmp_path / "a.h5", np.random.rand(1, 21, 31), [np.linspace(0, 3, 31), np.linspace(-1, 1, 21)]
    )
    for width in (800, 1600, 801):
        image = draw(path, tmp_path / "a.png", "--width", width)
        width += width % 2  # video encoders take only even sizes
        assert image.shape[0] % 2 == 0
        assert image.shape[1] == width and 0.6 * width < image.shape[0] <= 0.75 * width
        if width == 1600:
            _, _, w, h = plot_area(image)
            assert abs(w / h - 1.5) < 0.003  # rounded to whole pixels: 1/1000
        corners = image[[0, 0, -1, -1], [0, -1, 0, -1]]
        assert (corners == 255).all()


def test_a_long_thin_slice_is_stretched_to_be_seen(tmp_path):
    path = write(
        tmp_path / "a.h5", np.random.rand(1, 5, 101), [np.linspace(0, 1, 101), np.linspace(0, 0.01, 5)]
    )
    _, _, w, h = plot_area(draw(path, tmp_path / "a.png"))
    assert abs(w / h - 6) < 0.05


def test_more_nodes_than_pixels_show_their_mean(tmp_path):
    values = np.tile([0.0, 1.0], (1, 4000, 2000))  # alternating columns of 0 and 1
    path = write(tmp_path / "a.h5", values, [np.linspace(0, 1, 4000)] * 2)
    image = draw(path, tmp_path / "a.png", "--map", "gray", "--width", 400)
    x, y, w, h = plot_area(image)
    inside = image[y + 5 : y + h - 5, x + 5 : x + w - 5]
    # some 20 nodes a pixel: 10 of each kind, or one more of one kind
    assert np.abs(inside - 127.5).max() <= 255 * 0.5 / 15


@pytest.fixture
def block(tmp_path):
    """T = x + 10 y + 100 z + 1000 step on [0, 1] x [0, 0.5] x [0, 0.8]: linear, so known also between nodes."""
    x, y, z = np.linspace(0, 1, 11), np.linspace(0, 0.5, 6), np.linspace(0, 0.8, 8)
    one = x[None, None, :] + 10 * y[None, :, None] + 100 * z[:, None, None]
    return write(tmp_path / "block.h5", np.stack([one, one + 1000, one + 2000]), [x, y, z])


@pytest.mark.parametrize(
    "cut, value",
    [
        ([], lambda a, b: a + 5 * b + 40),  # the middle of z
        (["--slice", "z=0.13"], lambda a, b: a + 5 * b + 13),
        (["--slice=z=0.8"], lambda a, b: a + 5 * b + 80),
        (["--slice", "y=0.1"], lambda a, b: a + 1 + 80 * b),
        (["--slice", "x=0.77"], lambda a, b: 0.77 + 5 * a + 80 * b),
        (["--slice", "x"], lambda a, b: 0.5 + 5 * a + 80 * b),
    ],
)
@pytest.mark.parametrize("step", [0, 1])
def test_slices_and_steps_are_those_asked_for(block, tmp_path, cut, value, step):
    lower, upper = 1000 * step, 1000 * step + 86
    image = draw(
        block, tmp_path / "p.png", *cut, "--step", step, "--range", f"{lower}:{upper}", "--map", "gray"
    )
    area = plot_area(image)
    for across in (0, 0.21, 0.5, 0.9, 1):
        for up in (0, 0.3, 0.75, 1):
            expected = grey_of(value(across, up), 0, 86)
            # half a pixel of some 700 over 86 degrees, and rounding
            assert np.abs(colour_at(image, area, across, up) - expected).max() <= 1


def test_the_last_step_is_the_default(block, tmp_path):
    default = draw(block, tmp_path / "p.png")
    assert (default == draw(block, tmp_path / "q.png", "--step", "last")).all()
    assert (default == draw(block, tmp_path / "r.png", "--step", 2)).all()


def test_all_steps_become_numbered_pictures_with_one_range(block, tmp_path):
    result = render(block, "--step", "all", "--map", "gray", "-o", tmp_path / "p.png")
    assert result.returncode == 0, result.stderr
    assert sorted(p.name for p in tmp_path.glob("*.png")) == [f"p-000{i}.png" for i in range(3)]
    for step in range(3):
        image = read_png(tmp_path / f"p-000{step}.png")
        seen = colour_at(image, plot_area(image), 0.5, 0.5)
        expected = grey_of(43 + 1000 * step, 40, 2046)
        assert np.abs(seen - expected).max() <= 1


def test_nan_and_infinite_nodes_are_grey(tmp_path):
    values = np.random.default_rng(2).uniform(0, 1, (1, 9, 9))
    values[0, 2, 6], values[0, 4, 4] = np.nan, np.inf
    values[0, 0, 0], values[0, 8, 8] = 0, 1
    path = write(tmp_path / "a.h5", values, [np.linspace(0, 1, 9)] * 2)
    image = draw(path, tmp_path / "a.png", "--map", "viridis")
    area = plot_area(image)
    for i, j in ((6, 2), (4, 4)):
        for off in (-0.45, 0, 0.45):
            assert tuple(colour_at(image, area, (i + off) / 8, (j - off) / 8)) == GREY
            assert tuple(colour_at(image, area, (i + 0.55) / 8, (j + off) / 8)) != GREY
    # the infinite node has not changed the range
    assert np.abs(colour_at(image, area, 1, 1) - (0xFD, 0xE7, 0x25)).max() <= 6


@pytest.mark.parametrize("value", [0.0, 300.0, -1e-300, 1e308, np.nan])
def test_a_constant_field_is_drawn_in_the_middle_colour(tmp_path, value):
    path = write(tmp_path / "a.h5", np.full((1, 4, 4), value), [np.linspace(0, 1, 4)] * 2)
    image = draw(path, tmp_path / "a.png", "--map", "gray")
    seen = colour_at(image, plot_area(image), 0.4, 0.6)
    expected = {1e308: 255, -1e-300: 128}.get(value, 160 if np.isnan(value) else 128)
    assert abs(seen - expected).max() <= 1


@pytest.mark.parametrize("low, high", [(-1.7e308, 1.7e308), (300, 300 + 1e-9), (-5e-324, 5e-324)])
def test_ranges_at_the_edge_of_double_precision_are_drawn(tmp_path, low, high):
    values = np.linspace(low / 2, high / 2, 16).reshape(1, 4, 4) * 2
    draw(write(tmp_path / "a.h5", values, [np.linspace(0, 1, 4)] * 2), tmp_path / "a.png")


def test_values_beyond_the_range_have_the_ends_colours_and_the_bar_says_so(tmp_path):
    values = np.linspace(0, 100, 36).reshape(1, 6, 6)
    path = write(tmp_path / "a.h5", values, [np.linspace(0, 1, 6)] * 2)
    image = draw(path, tmp_path / "a.png", "--range", "40:60", "--map", "viridis")
    area = plot_area(image)
    assert tuple(colour_at(image, area, 0, 0)) == (0x44, 0x01, 0x54)
    assert tuple(colour_at(image, area, 1, 1)) == (0xFD, 0xE7, 0x25)
    x, y, w, h = area
    above, below = image[: y - 4, x + w + 4 :], image[y + h + 4 :, x + w + 4 :]
    assert (above == (0xFD, 0xE7, 0x25)).all(axis=2).sum() > 50  # the triangles at the bar's ends
    assert (below == (0x44, 0x01, 0x54)).all(axis=2).sum() > 50


@pytest.mark.parametrize("dims", [1, 2])
@pytest.mark.parametrize("span, where", [("0:10", "below"), (":10", "below"), ("130:140", "above"), ("130:", "above")])
def test_a_range_outside_all_data_is_drawn_with_a_warning(tmp_path, dims, span, where):
    values = np.linspace(20, 120, 6**dims).reshape(1, *[6] * dims)
    path = write(tmp_path / "a.h5", values, [np.linspace(0, 1, 6)] * dims)
    result = render(path, "-o", tmp_path / "a.png", "--range", span)
    assert result.returncode == 0
    assert f"lies {where} all that is drawn, which is 20 to 120" in result.stderr
    assert result.stderr.count("\n") == 1
    read_png(tmp_path / "a.png")


@pytest.mark.parametrize("span", ["0:20", "120:", "60:70"])
def test_a_range_that_meets_the_data_needs_no_word(tmp_path, span):
    path = write(tmp_path / "a.h5", np.linspace(20, 120, 6)[None], [np.linspace(0, 1, 6)])
    draw(path, tmp_path / "a.png", "--range", span)


def test_a_line_goes_through_its_nodes(tmp_path):
    x = np.linspace(0, 2, 41)
    values = 20 + 10 * np.sin(3 * x)
    path = write(tmp_path / "a.h5", values[None], [x], unit="°C")
    image = draw(path, tmp_path / "a.png", "--range", "5:35")
    px, py, w, h = plot_area(image)
    blue = (image == BLUE).all(axis=2)
    for i in range(1, 40):
        column = np.flatnonzero(blue[:, px + int(i / 40 * w)])
        # the slope spreads the stroke over the column; its middle is at the node, to the slope's share of a pixel
        # (under 2) and a rounding
        assert abs(column.mean() + 0.5 - (py + h * (35 - values[i]) / 30)) < 2.5
    grid = (image[py : py + h, px : px + w] == (226, 229, 233)).all(axis=2)
    assert (grid.mean(axis=1) > 0.8).sum() >= 6 and (grid.mean(axis=0) > 0.8).sum() >= 6


def test_a_line_is_interrupted_where_it_has_no_value(tmp_path):
    values = np.linspace(0, 40, 41)
    values[10:20], values[30] = np.nan, np.inf
    image = draw(write(tmp_path / "a.h5", values[None], [np.linspace(0, 1, 41)]), tmp_path / "a.png")
    area = plot_area(image)
    for node in range(1, 40):  # grey for half a spacing to either side
        hole = node in (*range(10, 20), 30)
        for off in (-0.4, 0.4):
            assert (tuple(colour_at(image, area, (node + off) / 40, 0.92)) == GREY) == hole, node


def test_a_cut_through_a_plate_is_a_line(tmp_path):
    x, y = np.linspace(0, 1, 11), np.linspace(0, 2, 21)
    path = write(tmp_path / "a.h5", (x[None, :] + 10 * y[:, None])[None], [x, y])
    image = draw(path, tmp_path / "a.png", "--slice", "y=1.23", "--range", "12:14")
    px, py, w, h = plot_area(image)
    column = np.flatnonzero((image == BLUE).all(axis=2)[:, px + w // 2])
    assert abs(column.mean() + 0.5 - (py + h * (14 - 12.8) / 2)) < 1.5


def test_all_steps_of_a_line_are_curves_of_one_plot(tmp_path):
    x = np.linspace(0, 1, 11)
    values = np.stack([np.full(11, 10.0 * k) for k in range(4)])
    path = write(tmp_path / "a.h5", values, [x], time=[0.0, 60, 120, 180])
    image = draw(path, tmp_path / "a.png", "--step", "all", "--range", "-5:35", "--map", "viridis")
    assert [p.name for p in tmp_path.glob("*.png")] == ["a.png"]
    px, py, w, h = plot_area(image)
    seen = [tuple(image[int(py + h * (35 - 10 * k) / 40), px + w // 3]) for k in range(4)]
    assert seen[0] == (0x44, 0x01, 0x54) and len(set(seen)) == 4
    # the bar has the same colours: the first curve's at its lower end, the last one's at its upper end
    bar = image[:, px + w + 60]
    assert (bar == seen[0]).all(axis=1).any()
    assert np.abs(bar[py + 1] - seen[3]).max() <= 3


@pytest.mark.parametrize("times", [[0.0, 0.0], [np.nan, np.nan], [5.0, 1.0]])
def test_snapshots_without_ascending_times_are_still_drawn(tmp_path, times):
    path = write(tmp_path / "a.h5", np.random.rand(2, 9), [np.linspace(0, 1, 9)], time=times)
    assert "a.png: snapshots 0 to " in draw(path, tmp_path / "a.png", "--step", "all", read=False)


def test_bytes_that_are_no_text_do_not_spoil_a_picture(tmp_path):
    path = write(tmp_path / "a.h5", np.random.rand(1, 9, 9), [np.linspace(0, 1, 9)] * 2)
    with h5py.File(path, "r+") as f:
        f.attrs.create("title", b"bad \xff\xc3( \x1b[31m title", dtype=h5py.string_dtype())
    plain = draw(path, tmp_path / "a.png")
    assert (plain[40:120] < 100).any()  # there is a heading
    plot_area(plain)
    draw(path, tmp_path / "a.svg", read=False)
    xml.etree.ElementTree.parse(tmp_path / "a.svg")


@pytest.mark.parametrize("title", ["", "long " * 80, "x" * 400, "Wärmeleitung µ λ 中文 \U0001F525"])
def test_any_title_fits(tmp_path, title):
    path = write(tmp_path / "a.h5", np.random.rand(1, 9, 9), [np.linspace(0, 1, 9)] * 2, title=title)
    image = draw(path, tmp_path / "a.png")
    assert (image[:, :40] == 255).all() and (image[:, -40:] == 255).all()  # the margins are empty
    assert (image[:40] == 255).all() and (image[-40:] == 255).all()


def test_long_units_and_names_are_drawn(tmp_path):
    x, unit, name = np.linspace(0, 1, 9), "µ" * 90, "é" * 200  # a cut within a character would leave invalid text
    path = write(tmp_path / "a.h5", np.random.rand(1, 9, 9, 9), [x] * 3, unit=unit)
    with h5py.File(path, "r+") as f:
        f["x"].attrs["units"] = f["z"].attrs["units"] = unit
        f.create_dataset(f"probes/{name}", data=x).attrs["units"] = unit
        f["probes/time"] = x
    draw(path, tmp_path / "a.png")
    draw(path, tmp_path / "b.svg", "--plot", name, read=False)
    xml.etree.ElementTree.parse(tmp_path / "b.svg")


BAD = [
    (["--step", "3"], 2, ["--step 3", "3 snapshots", "0 to 2"]),
    (["--step", "first"], 2, ["--step first", "last or all"]),
    (["--step", "-1"], 2, ["--step -1", "from 0 on"]),
    (["--slice", "z=0.9"], 2, ["--slice z=0.9", "outside", "z=0 to 0.8 m"]),
    (["--slice", "w=1"], 2, ["--slice w=1", "z=0.05"]),
    (["--slice", "z=abc"], 2, ["--slice z=abc"]),
    (["--range", "5"], 2, ["--range 5", "290:350"]),
    (["--range", "9:5"], 2, ["--range 9:5", "lower first"]),
    (["--range", "nan:5"], 2, ["--range nan:5"]),
    (["--range", "300:300.00000000000006"], 2, ["--range", "rounding"]),
    (["--map", "jet"], 2, ["--map jet", "inferno, viridis, magma, plasma, coolwarm, gray"]),
    (["--width", "10"], 2, ["--width 10", "400 to 10000"]),
    (["--colour=x"], 2, ["--colour=x: no such option", "--help"]),
    (["--map"], 2, ["--map", "needs a value", "NAME"]),
    (["other.h5"], 2, ["other.h5", "one argument too many", "--help"]),
    (["--time", "soon"], 2, ["--time soon", "in s"]),
    (["--time", "3"], 2, ["--time 3", "block.h5 goes from 0 to 2 s"]),
    (["--time", "1", "--step", "1"], 2, ["--step and --time", "one of them"]),
    (["--contours", "0"], 2, ["--contours 0", "1 to 50", "300,310"]),
    (["--contours", "300"], 2, ["--contours 300", "(one alone: 300,)"]),
    (["--contours", "300,x"], 2, ["--contours 300,x"]),
    (["--fps", "5"], 2, ["--fps", ".mp4 or .webm"]),
    (["--plot", "tip"], 2, ["--plot tip", "block.h5 has no such column", "there are no probes"]),
    (["--plot", "history", "--step", "1"], 2, ["--plot", "leave --step out"]),
    (["--plot", "history", "--time", "1"], 2, ["--plot", "leave --time out"]),
    (["--plot", "history", "--slice", "z"], 2, ["--plot", "leave --slice out"]),
    (["--plot", "history", "--contours", "5"], 2, ["--plot", "leave --contours out"]),
    (["--plot", "history", "--map", "gray"], 2, ["--plot", "leave --map out"]),
    (["--plot", "history", "-o", "f.mp4"], 2, ["--plot", ".png, .svg or .pdf"]),
    (["--time", "1", "-o", "f.mp4"], 2, ["a film has all snapshots", "--time"]),
    (["--step", "1", "-o", "f.webm"], 2, ["a film has all snapshots", "--step"]),
    (["--fps", "0", "-o", "f.mp4"], 2, ["--fps 0", "1 to 120"]),
]


@pytest.mark.parametrize("arguments, code, words", BAD)
def test_a_bad_request_says_what_is_wrong_and_writes_nothing(block, tmp_path, arguments, code, words):
    result = render(block, "-o", tmp_path / "p.png", *arguments)
    assert result.returncode == code, result.stderr
    for word in words:
        assert word in result.stderr
    assert result.stderr.startswith("heatsolve: ") and result.stderr.count("\n") == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == ["block.h5"]


def fails(result, code, *words):
    assert result.returncode == code, result.stderr
    assert result.stderr.count("\n") == 1, result.stderr
    for word in words:
        assert word in result.stderr


def test_what_is_left_out_is_asked_for(block):
    fails(render(), 2, "which file", "heatsolve render out.h5 -o")
    fails(render(block), 2, "-o picture.png")
    fails(render(block, "-o", "picture.gif"), 2, "-o picture.gif", ".png, .svg or .pdf", "for a film of all snapshots, in .mp4 or .webm")


def test_a_file_that_is_not_one_of_ours_is_named(tmp_path):
    picture = tmp_path / "p.png"
    fails(render(tmp_path / "none.h5", "-o", picture), 3, "none.h5", "No such file")
    fails(render(tmp_path, "-o", picture), 3, "cannot read")
    text = tmp_path / "text.h5"
    text.write_text("not HDF5 at all\n")
    fails(render(text, "-o", picture), 3, "text.h5", "not an HDF5 file")
    text.write_text("")
    fails(render(text, "-o", picture), 3, "empty")
    other = tmp_path / "other.h5"
    with h5py.File(other, "w") as f:
        f["pressure"] = [1.0]
    fails(render(other, "-o", picture), 2, "other.h5", "/temperature")
    with h5py.File(other, "w") as f:
        f["temperature"] = np.zeros((2, 3))
    fails(render(other, "-o", picture), 2, "/x does not hold the 3 coordinates")
    with h5py.File(other, "w") as f:
        f["temperature"], f["x"] = np.zeros((2, 3)), [0.0, 1, 2]
    fails(render(other, "-o", picture), 2, "/time")
    write(other, np.zeros((0, 3)), [[0.0, 1, 2]])
    fails(render(other, "-o", picture), 2, "no snapshot")
    for nodes in ([2.0, 1, 0], [0.0, 1, 1], [0.0, 3, 2], [0.0, np.nan, 1]):
        write(other, np.zeros((1, 3)), [nodes])
        fails(render(other, "-o", picture), 2, "ascend")
    write(other, np.zeros(3), [])
    fails(render(other, "-o", picture), 2, "has other axes")
    write(other, np.full((1, 3), b"abc"), [[0.0, 1, 2]])
    fails(render(other, "-o", picture), 2, "does not hold numbers")
    write(other, np.zeros((1, 3)), [[0.0, 1, 2]])
    fails(render(other, "-o", picture, "--slice", "x=1"), 2, "1D")
    write(other, np.zeros((1, 3, 3)), [[0.0, 1, 2]] * 2)
    fails(render(other, "-o", picture, "--slice", "z=1"), 2, "2D", "along x or y")
    assert not picture.exists()


def test_a_truncated_file_is_refused(block, tmp_path):
    data = block.read_bytes()
    block.write_bytes(data[: len(data) // 2])
    fails(render(block, "-o", tmp_path / "p.png"), 3, "block.h5", "damaged")


def test_a_place_that_cannot_be_written_leaves_nothing(block, tmp_path):
    fails(render(block, "-o", block / "deep" / "p.png"), 3, "block.h5/deep: cannot make", "give the picture another name")
    (tmp_path / "p.png").mkdir()
    fails(render(block, "-o", tmp_path / "p.png"), 3, "p.png", "directory")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["block.h5", "p.png"]


def test_folders_are_made(block, tmp_path):
    draw(block, tmp_path / "new" / "deep" / "p.png")


@pytest.mark.skipif("coverage" in HEATSOLVE, reason="what counts lines writes files of its own")
def test_a_full_disk_leaves_the_picture_that_was_there(block, tmp_path):
    draw(block, tmp_path / "p.png", "--step", "0", "--width", "400")
    older = (tmp_path / "p.png").read_bytes()
    limited = f"ulimit -f 8; trap '' XFSZ; exec {HEATSOLVE} render {block} -o {tmp_path}/p.png"
    fails(subprocess.run(["bash", "-c", limited], capture_output=True, text=True), 3, "p.png")
    assert (tmp_path / "p.png").read_bytes() == older
    assert not (tmp_path / "p.png.part").exists()


def test_the_file_of_a_run_that_still_writes_can_be_drawn(tmp_path):
    path = write(tmp_path / "a.h5", np.random.rand(2, 9, 9), [np.linspace(0, 1, 9)] * 2)
    with h5py.File(path, "r+") as f:  # the writer holds the lock
        f.flush()
        draw(path, tmp_path / "a.png")


def test_rounding_of_a_constant_field_is_not_spread_over_the_colours(tmp_path):
    values = 300 * (1 + 1e-15 * np.arange(16).reshape(1, 4, 4))
    path = write(tmp_path / "a.h5", values, [np.linspace(0, 1, 4)] * 2)
    image = draw(path, tmp_path / "a.png", "--map", "gray")
    for place in (0, 0.5, 1):
        assert np.abs(colour_at(image, plot_area(image), place, place) - 127.5).max() <= 1


# ---- other forms -------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_the_same_picture_twice_is_the_same_bytes(block, tmp_path, ending):
    for name in ("a", "b"):
        draw(block, tmp_path / f"{name}.{ending}", "--contours", "5", read=False)
    assert (tmp_path / f"a.{ending}").read_bytes() == (tmp_path / f"b.{ending}").read_bytes()


def test_svg_and_pdf_are_vectors_of_the_same_picture(block, tmp_path):
    width, height = draw(block, tmp_path / "p.png", "--width", 800).shape[1::-1]
    draw(block, tmp_path / "p.svg", "--width", 800, read=False)
    root = xml.etree.ElementTree.parse(tmp_path / "p.svg").getroot()
    assert root.attrib["viewBox"] == f"0 0 {width} {height}"
    kinds = [element.tag.split("}")[1] for element in root.iter()]
    assert kinds.count("image") == 1  # the field; everything else is lines and letters
    assert kinds.count("use") > 40 and kinds.count("path") > 20
    draw(block, tmp_path / "p.pdf", "--width", 800, read=False)
    data = (tmp_path / "p.pdf").read_bytes()
    assert data.startswith(b"%PDF-1.4") and b"/Font" in data
    box = re.search(rb"/MediaBox \[ 0 0 ([0-9.]+) ([0-9.]+) \]", data).groups()
    assert [float(side) for side in box] == pytest.approx([width * 0.48, height * 0.48], abs=0.01)


def test_without_a_font_it_says_so(block, tmp_path):
    (tmp_path / "fonts.conf").write_text("<fontconfig></fontconfig>")
    result = render(block, "-o", tmp_path / "p.png", FONTCONFIG_FILE=str(tmp_path / "fonts.conf"))
    assert result.returncode == 0
    assert "no font is installed" in result.stderr and "fonts-dejavu-core" in result.stderr
    assert result.stderr.count("\n") == 1
    result = render(block, "-o", tmp_path / "p.png", "--step", "all", FONTCONFIG_FILE=str(tmp_path / "fonts.conf"))
    assert result.stderr.count("\n") == 1  # once, not for every picture


# ---- times and units ---------------------------------------------------------------------------


@pytest.mark.parametrize("time, step", [("0", 0), ("0.4", 0), ("0.6", 1), ("1", 1), ("1.9", 2), ("2", 2)])
def test_the_snapshot_nearest_to_a_time_is_drawn_and_said(block, tmp_path, time, step):
    assert f"snapshot {step} of 0 to 2, t = {step} s" in draw(block, tmp_path / "p.png", "--time", time, read=False)
    assert (read_png(tmp_path / "p.png") == draw(block, tmp_path / "q.png", "--step", step)).all()


def test_degC_is_shown_as_people_write_it(tmp_path):
    values, axes = np.random.rand(1, 9, 9), [np.linspace(0, 1, 9)] * 2
    written = write(tmp_path / "a.h5", values, axes, unit="°C")
    asked = write(tmp_path / "b.h5", values, axes, unit="degC")
    other = write(tmp_path / "c.h5", values, axes, unit="K")
    shown = draw(asked, tmp_path / "b.png")
    assert (shown == draw(written, tmp_path / "a.png")).all()
    assert (shown != draw(other, tmp_path / "c.png")).any()


# ---- contours ----------------------------------------------------------------------------------


@pytest.fixture
def ramp(tmp_path):
    """T = 100 x on [0, 1] x [0, 1]: contours are vertical lines."""
    x = np.linspace(0, 1, 6)
    return write(tmp_path / "ramp.h5", np.tile(100 * x, (1, 6, 1)), [x, x])


@pytest.mark.parametrize("levels, expected", [("25,60", [25, 60]), ("60,", [60]), ("4", [20, 40, 60, 80])])
def test_contours_are_where_the_field_has_their_value(ramp, tmp_path, levels, expected):
    plain = draw(ramp, tmp_path / "p.png", "--map", "gray")
    lined = draw(ramp, tmp_path / "c.png", "--map", "gray", "--contours", levels)
    x, y, w, h = plot_area(plain)
    changed = (plain != lined).any(axis=2)
    assert not changed[:y].any() and not changed[y + h :].any()
    columns = np.flatnonzero(changed[y : y + h, x : x + w].mean(axis=0) > 0.7)  # without the labels
    groups = np.split(columns, np.flatnonzero(np.diff(columns) > 5) + 1)
    middles = [100 * (group.mean() + 0.5) / w for group in groups]
    # a line is a few pixels wide, of some 900
    assert middles == pytest.approx(expected, abs=0.2)
    for middle in expected:  # each has a label
        near = changed[y : y + h, x + int(w * middle / 100) - 15 : x + int(w * middle / 100) - 5]
        assert near.sum() > 20


def test_contours_that_nothing_reaches_are_told(ramp, tmp_path):
    result = render(ramp, "-o", tmp_path / "p.png", "--contours", "400,500")
    assert result.returncode == 0
    assert "no line is drawn" in result.stderr and "0 to 100" in result.stderr


def test_contours_through_corners_and_along_plateaus_are_drawn(tmp_path):
    """A level that only touches a corner has no direction for its label. Where all nodes around have the level, rounding
    once drew specks."""
    x = np.linspace(0, 1, 11)
    falling = write(tmp_path / "a.h5", 100 * (x - x[:, None])[None], [x, x])
    draw(falling, tmp_path / "a.png", "--contours", "5")
    field = np.full((1, 41, 41), 293.15)
    field[0, 16:25, 16:25] = 353.15
    plateau = write(tmp_path / "b.h5", field, [np.linspace(0, 1, 41)] * 2)
    assert render(plateau, "-o", tmp_path / "b.svg", "--contours", "293.15,323.15").returncode == 0
    lines = re.findall(r'd="([^"]+)"', (tmp_path / "b.svg").read_text())
    # the square's outline, some 300 mesh cells long, at most twice
    assert max(line.count("M") for line in lines) < 700


@pytest.mark.parametrize("length", [0.08, 0.1, 0.12])
def test_labels_of_contours_do_not_touch(tmp_path, length):
    """A long number, then a short one on an oval hardly longer than both."""
    x = np.linspace(-1, 1, 401)
    r = np.hypot(x / length, 6 * x[:, None] / length)
    oval = write(tmp_path / "a.h5", np.interp(r, [0, 1, 1.05, 30], [200, 5, -123456, -123700])[None], [x, x])
    assert render(oval, "-o", tmp_path / "a.svg", "--contours=-123456,5").returncode == 0
    texts = re.findall(r"<g style=[^>]*>\s*((?:<use[^>]*>\s*)+)</g>", (tmp_path / "a.svg").read_text())
    places = [np.array(re.findall(r' x="([\d.]+)" y="([\d.]+)"', text), float) for text in texts]
    labels = [at for at in places if np.hypot(*(at.mean(axis=0) - (731, 616))) < 100]  # near the oval
    assert 1 <= len(labels) <= 2 and len(labels[0]) == len("−123456")
    for at in labels[1:]:
        assert np.abs(at[0] - labels[0]).max(axis=1).min() > 15  # digits are 12 wide


def test_contours_of_a_field_without_numbers_are_told(tmp_path):
    path = write(tmp_path / "a.h5", np.full((1, 5, 5), np.nan), [np.linspace(0, 1, 5)] * 2)
    result = render(path, "-o", tmp_path / "p.png", "--contours", "5")
    assert result.returncode == 0 and "no temperature is a number" in result.stderr


def test_columns_of_a_file_without_history_are_refused_by_name(tmp_path):
    path = write(tmp_path / "a.h5", np.random.rand(2, 5, 5), [np.linspace(0, 1, 5)] * 2)
    fails(render(path, "-o", tmp_path / "p.png", "--plot", "history"), 2, "--plot history", "its history has none")


def test_of_a_single_snapshot_its_own_time_is_drawn(tmp_path):
    path = write(tmp_path / "a.h5", np.random.rand(1, 5, 5), [np.linspace(0, 1, 5)] * 2, time=np.array([8.0]))
    assert "t = 8 s" in draw(path, tmp_path / "p.png", "--time", "8", read=False)
    for time in ("0", "9"):
        fails(render(path, "-o", tmp_path / "q.png", "--time", time), 2, f"--time {time}", "from 8 to 8 s")


def test_contours_of_a_line_are_refused(tmp_path):
    path = write(tmp_path / "a.h5", np.random.rand(1, 9), [np.linspace(0, 1, 9)])
    fails(render(path, "-o", tmp_path / "p.png", "--contours", "5"), 2, "--contours", "line")


@pytest.mark.parametrize("status, solved, said", [("steady", True, "steady state"), ("steady", False, "t = 0 s"), ("not steady", True, "t = 0 s")])
def test_a_steady_state_without_a_time_is_called_so(tmp_path, status, solved, said):
    """A search by sweeps also begins with a field at t = 0."""
    path = tmp_path / "a.h5"
    write(path, np.arange(24.0).reshape(2, 3, 4), (np.arange(4.0), np.arange(3.0)), time=[0.0, 8.0])
    with h5py.File(path, "r+") as f:
        f.attrs["status"] = status
        if solved:
            f.attrs["steady_residual"] = 1e-9
    told = render(path, "-o", tmp_path / "a.png", "--step", "0").stdout
    assert told.strip().endswith(", " + said), told


# ---- columns -----------------------------------------------------------------------------------


@pytest.fixture
def history(block):
    """Columns of 101 rows beside the block's field: straight lines over 100 s."""
    time = np.linspace(0, 100, 101)
    with h5py.File(block, "r+") as f:
        columns = {
            "history/min": (time * 0, "K"),
            "history/mean": (time * 0.5, "K"),
            "history/max": (time, "K"),
            "history/heat": (1e6 + 10 * time, "J"),
            "history/l2_error": (np.where(np.arange(101) % 10, np.nan, time), "K"),
            "history/none": (time * np.nan, "K"),
            "history/flux/z_max": (time, "W"),
            "probes/tip": (100 - time, "K"),
            "probes/the rim": (100 - time / 2, "K"),
        }
        for name, (values, unit) in columns.items():
            f.create_dataset(name, data=values).attrs["units"] = unit
        f["history/time"] = f["probes/time"] = time
        f["history/sweep"] = f["probes/sweep"] = np.arange(101)
    return block


def curve_at(image, area, share, value, span):
    """The colour of the pixel at a share of the plot's width and at a value within the plotted range."""
    x, y, w, h = area
    return tuple(image[int(y + h * (span[1] - value) / (span[1] - span[0])), x + int(share * w)])


@pytest.mark.parametrize(
    "names, values",
    [
        ("history", lambda t: [0, 0.5 * t, t]),
        ("probes", lambda t: [100 - t, 100 - t / 2]),
        ("max", lambda t: [t]),
        ("mean, probes", lambda t: [0.5 * t, 100 - t, 100 - t / 2]),
        ("tip, max", lambda t: [100 - t, t]),
        ("l2_error", lambda t: [t]),  # measured only at snapshots, NaN in other rows
        ("the rim", lambda t: [100 - t / 2]),
        ("flux/z_max", lambda t: [t]),  # in a group
    ],
)
def test_columns_are_curves_over_time(history, tmp_path, names, values):
    image = draw(history, tmp_path / "p.png", "--plot", names, "--range", "-10:110")
    area = plot_area(image)
    seen = set()
    for share in (0.25, 0.75):
        for value in values(100 * share):
            colour = curve_at(image, area, share, value, (-10, 110))
            assert max(colour) - min(colour) > 60  # neither paper nor grid
            seen.add(colour)
    assert len(seen) == len(values(0))  # each has its own colour
    right = image[:, area[0] + area[2] + 30 :]
    named = [colour for colour in seen if (right == colour).all(axis=2).any()]
    assert len(named) == (len(seen) if len(seen) > 1 else 0)  # names in the same colours; one has none


@pytest.mark.parametrize(
    "names, values",
    [
        ("probes", lambda t: [100 - t, 100 - t / 2, 20, 50]),  # names within it are not parsed as a list
        ("history", lambda t: [0, 0.5 * t, t]),
        ("probes/max", lambda t: [20]),
        ("history/max", lambda t: [t]),
        ("tip, history/flux/z_max", lambda t: [100 - t, t]),
    ],
)
def test_probes_may_have_the_names_of_the_history(history, tmp_path, names, values):
    with h5py.File(history, "r+") as f:
        f["history/flux/z_max"].attrs["units"] = "K"
        for name, value in [("max", 20), (" left, top", 50)]:
            f.create_dataset("probes/" + name, data=np.full(101, float(value))).attrs["units"] = "K"
    image = draw(history, tmp_path / "p.png", "--plot", names, "--range", "-10:110")
    seen = {curve_at(image, plot_area(image), 0.25, value, (-10, 110)) for value in values(25)}
    assert len(seen) == len(values(0)) and all(max(c) - min(c) > 60 for c in seen)
    result = render(history, "-o", tmp_path / "q.png", "--plot", "tip,max")
    fails(result, 2, "--plot max", "give history/max or probes/max")
    fails(render(history, "-o", tmp_path / "q.png", "--plot", "probes/time"), 2, "no such column")


def test_columns_of_different_units_are_refused(history, tmp_path):
    result = render(history, "-o", tmp_path / "p.png", "--plot", "max,heat")
    fails(result, 2, "--plot max,heat", "max is in K and heat in J", "one at a time")
    fails(render(history, "-o", tmp_path / "p.png", "--plot", "none"), 2, "none", "no value")
    result = render(history, "-o", tmp_path / "p.png", "--plot", "max,time")
    fails(result, 2, "--plot time", "flux/z_max, heat, l2_error, max, mean, min, none", "the rim, tip")
    assert not (tmp_path / "p.png").exists()


def letters_beside(image):
    """Length of the text along the vertical axis: the rows with ink at the left margin."""
    inked = (image[:, 40:72] < 128).all(axis=2).any(axis=1)
    return np.ptp(np.flatnonzero(inked))


def test_the_axis_of_several_columns_has_their_quantity(history, tmp_path):
    with h5py.File(history, "r+") as f:
        f.create_dataset("history/flux/x_min", data=np.linspace(0, 9, 101)).attrs["units"] = "W"
        f.create_dataset("history/source", data=np.linspace(0, 9, 101)).attrs["units"] = "W"
    length = {}
    for n, names in enumerate(["z_max", "x_min", "z_max,flux/x_min", "z_max,source", "z_max,flux/x_min,source,flux/z_max"]):
        length[names] = letters_beside(draw(history, tmp_path / f"{n}.png", "--plot", "flux/" + names))
    short, mixed = length["z_max,flux/x_min"], length["z_max,source"]  # "flux [W]", "heat flow [W]"
    assert short < length["z_max"] and short < length["x_min"]  # "flux/z_max [W]"
    assert short < mixed == length["z_max,flux/x_min,source,flux/z_max"]
    for n, names in enumerate(["flux/z_max,flux/x_min", "history/flux/z_max, flux/x_min"]):
        draw(history, tmp_path / f"{n}.svg", "--plot", names, read=False)
    assert (tmp_path / "0.svg").read_bytes() == (tmp_path / "1.svg").read_bytes()


@pytest.mark.parametrize("solved, time", [(True, 0.0), (False, 0.0), (False, 40.0)])
@pytest.mark.parametrize("names", ["max", "history"])
def test_a_single_row_is_a_point_in_the_middle(tmp_path, solved, time, names):
    path = write(tmp_path / "a.h5", np.random.rand(1, 5, 5), [np.linspace(0, 1, 5)] * 2, time=[time])
    with h5py.File(path, "r+") as f:
        for name, value in (("min", 10.0), ("mean", 50.0), ("max", 90.0)):
            f.create_dataset("history/" + name, data=[value]).attrs["units"] = "K"
        f["history/time"] = [time]
        f.attrs["status"] = "steady"
        if solved:
            f.attrs["steady_residual"] = 1e-9
    image = draw(path, tmp_path / "p.png", "--plot", names, "--range", "0:100")
    x, y, w, h = area = plot_area(image)
    for value in (10, 50, 90) if names == "history" else (90,):
        colour = curve_at(image, area, 0.5, value, (0, 100))
        assert max(colour) - min(colour) > 60, (value, colour)
    ticks = (image[y + h + 6, x - 9 : x + w + 9] == INK).all(axis=1)  # below the frame
    assert np.count_nonzero(np.diff(ticks.astype(int)) == 1) == 1  # no time before the first, nor after


def test_the_lines_of_the_guide_draw_what_they_say(tmp_path, fake):
    x, y, z = np.linspace(0, 0.12, 7), np.linspace(0, 0.08, 6), np.linspace(0, 0.02, 5)
    (tmp_path / "out").mkdir()
    demo = write(tmp_path / "out" / "demo.h5", 305 + 25 * np.random.rand(13, 5, 6, 7), [x, y, z], time=5.0 * np.arange(13))
    with h5py.File(demo, "r+") as f:
        f["probes/time"] = f["probes/under_200W"] = np.arange(9.0)
    guide = (pathlib.Path(__file__).parents[2] / "docs" / "guide.md").read_text()
    lines = re.findall(r"^    heatsolve (render out/demo.h5 .*)$", guide, re.M)
    assert len(lines) >= 6
    environment = dict(os.environ, **fake())
    for line in lines:
        result = heatsolve(tmp_path, *line.split(), env=environment)
        assert result.returncode == 0 and result.stderr == "", (line, result.stderr)
        drawn = tmp_path / line.split()[-1]
        assert drawn.exists() or drawn.with_stem(drawn.stem + "-0012").exists(), line


# ---- films -------------------------------------------------------------------------------------

FAKE = """#!/bin/sh
for last; do :; done
echo "$*" >"$LOG"
cat >"$last"
"""


@pytest.fixture
def fake(tmp_path):
    """A PATH with a fake ffmpeg that logs its arguments."""
    def make(text=FAKE):
        bin = tmp_path / "bin"
        bin.mkdir()
        for tool in ("sh", "cat"):
            (bin / tool).symlink_to(shutil.which(tool))
        (bin / "ffmpeg").write_text(text)
        (bin / "ffmpeg").chmod(0o755)
        return {"PATH": str(bin), "LOG": str(tmp_path / "log")}
    return make


@pytest.mark.parametrize("ending, form", [("mp4", "mp4"), ("webm", "webm")])
def test_a_film_gets_all_snapshots_with_one_range(block, tmp_path, fake, ending, form):
    film = tmp_path / "films" / f"f.{ending}"
    assert "a film of 3 frames" in draw(block, film, "--fps", 7, "--map", "gray", read=False, **fake())
    said = (tmp_path / "log").read_text().split()
    assert said[said.index("-framerate") + 1] == "7" and said[said.index("-pix_fmt") + 1] == "yuv420p"
    assert said[-2] == form and said[-1] == f"{film}.part"
    assert [p.name for p in film.parent.iterdir()] == [film.name]
    frames = film.read_bytes().split(b"\x89PNG\r\n\x1a\n")[1:]
    assert len(frames) == 3
    draw(block, tmp_path / "p.png", "--step", "all", "--map", "gray", read=False)
    for step, frame in enumerate(frames):
        (tmp_path / "frame.png").write_bytes(b"\x89PNG\r\n\x1a\n" + frame)
        assert (read_png(tmp_path / "frame.png") == read_png(tmp_path / f"p-000{step}.png")).all()


def test_a_line_is_filmed_too(tmp_path, fake):
    path = write(tmp_path / "a.h5", np.random.rand(4, 9), [np.linspace(0, 1, 9)])
    assert "a film of 4 frames" in draw(path, tmp_path / "f.mp4", read=False, **fake())


def test_an_ffmpeg_that_fails_leaves_no_film(block, tmp_path, fake):
    result = render(block, "-o", tmp_path / "f.mp4", **fake("#!/bin/sh\necho no such codec >&2\nexit 1\n"))
    assert result.returncode == 3
    assert "no such codec" in result.stderr and "f.mp4: ffmpeg failed" in result.stderr
    assert not (tmp_path / "f.mp4").exists() and not (tmp_path / "f.mp4.part").exists()


@pytest.mark.parametrize("ending", ["png", "svg", "pdf", "mp4", "webm"])
def test_what_somebody_else_made_is_not_replaced(block, tmp_path, fake, ending):
    environment = fake()
    for name in (f"p.{ending}", f"q.{ending}.part"):
        (tmp_path / name).write_text("mine")
        fails(render(block, "-o", tmp_path / name.removesuffix(".part"), **environment), 3, name, "another name")
        assert (tmp_path / name).read_text() == "mine"


@pytest.mark.skipif(not shutil.which("ffmpeg"), reason="ffmpeg is not installed")
@pytest.mark.parametrize("ending", ["mp4", "webm"])
def test_a_film_takes_the_place_of_an_older_one_but_of_no_other(block, tmp_path, ending):
    film = tmp_path / f"f.{ending}"
    for _ in range(2):
        draw(block, film, "--width", "400", read=False)
    subprocess.run(["ffmpeg", "-loglevel", "error", "-y", "-i", film, "-map_metadata", "-1", tmp_path / f"g.{ending}"], check=True)
    fails(render(block, "-o", tmp_path / f"g.{ending}"), 3, f"g.{ending}", "another name")


def test_without_ffmpeg_there_are_frames_and_a_line_to_run(block, tmp_path, fake):
    (tmp_path / "empty").mkdir()
    film = tmp_path / "new" / "f.mp4"
    result = render(block, "-o", film, "--fps", 5, PATH=str(tmp_path / "empty"))
    assert result.returncode == 3
    assert "ffmpeg is not installed" in result.stderr and "apt-get install ffmpeg" in result.stderr
    assert sorted(p.name for p in film.parent.iterdir()) == [f"f-000{i}.png" for i in range(3)]
    line = re.search(r"^ *(ffmpeg .*)$", result.stderr, re.M).group(1)
    subprocess.run(["/bin/sh", "-c", line], env=fake(), check=True)
    said = (tmp_path / "log").read_text().split()
    assert said[said.index("-i") + 1] == str(film.parent / "f-%04d.png") and said[-1] == str(film)


@pytest.mark.skipif(not shutil.which("ffprobe"), reason="ffmpeg is not installed")
def test_a_real_film_can_be_played(block, tmp_path):
    draw(block, tmp_path / "f.mp4", "--width", "401", read=False)
    probe = ["ffprobe", "-v", "error", "-count_frames", "-show_entries", "stream=width,nb_read_frames,pix_fmt"]
    result = subprocess.run([*probe, tmp_path / "f.mp4"], capture_output=True, text=True, check=True)
    assert {"width=402", "pix_fmt=yuv420p", "nb_read_frames=3"} <= set(result.stdout.split())
    assert b"heatsolve" in (tmp_path / "f.mp4").read_bytes()
    first = (tmp_path / "f.mp4").read_bytes()
    draw(block, tmp_path / "f.mp4", "--width", "401", read=False)
    assert (tmp_path / "f.mp4").read_bytes() == first


# ---- materials ----------------------------------------------------------------------------------

BODY = """
grid = { points = [41, 21]; upper = [0.4, 0.2]; };
materials = ( { name = "a"; diffusivity = 1e-6; }, { name = "b"; diffusivity = 1e-5; } );
body = ( { material = "a"; }, { material = "b"; shape = "SHAPE } );
initial = { value = 300.0; };
boundary = { all = { type = "reflective"; }; };
time = { sweeps = 1; };
"""
SHAPES = {
    "box": ('box"; lower = [0.1, 0.05]; upper = [0.303, 0.15];', lambda x, y: (abs(x - 0.2015) < 0.1015) & (abs(y - 0.1) < 0.05)),
    "disc": ('sphere"; centre = [0.2, 0.1]; radius = 0.07;', lambda x, y: (x - 0.2) ** 2 + (y - 0.1) ** 2 < 0.07**2),
    "slant": ('half-space"; point = [0.2, 0.1]; normal = [1.0, 1.0];', lambda x, y: x + y < 0.3),
    "box from afar": ('box"; lower = [-1e9, 0.05]; upper = [0.303, 0.15];', lambda x, y: (x < 0.303) & (abs(y - 0.1) < 0.05)),
    "slant by a far point": ('half-space"; point = [1e8, -99999999.7]; normal = [1.0, 1.0];', lambda x, y: x + y < 0.3),
    "disc, nearly flat": ('sphere"; centre = [-1e8, 0.1]; radius = 100000000.2;', lambda x, y: x < 0.2),
}


def run_case(directory, text, *more):
    (directory / "case.cfg").write_text(text)
    must(directory, "run", "case.cfg", "--quiet", *more)
    return directory / "case.h5"


def assert_outlined(image, material):
    """Every outline is where the material changes, and every change has an outline, to a pixel. `material` gives the
    material at places, 0 to 1 across and up. The temperature is uniform."""
    left, top, w, h = plot_area(image)
    field = image[top : top + h, left : left + w, :3].astype(int)
    plain = np.median(field.reshape(-1, 3), axis=0)
    drawn = np.abs(field - plain).sum(axis=2) > 60
    at = material(*np.meshgrid((np.arange(w) + 0.5) / w, 1 - (np.arange(h) + 0.5) / h))
    border = np.zeros(at.shape, bool)
    border[:, 1:] |= at[:, 1:] != at[:, :-1]
    border[1:] |= at[1:] != at[:-1]

    def near(mask, reach):
        out = mask.copy()
        for dy in range(-reach, reach + 1):
            for dx in range(-reach, reach + 1):
                out |= np.roll(np.roll(mask, dy, 0), dx, 1)
        return out

    rim = np.zeros(at.shape, bool)  # the rim of the plot itself
    rim[:4] = rim[-4:] = rim[:, :4] = rim[:, -4:] = True
    assert border.sum() > 300
    assert not (drawn & ~near(border, 3) & ~rim).any()
    assert not (border & ~near(drawn, 3) & ~rim).any()


@pytest.mark.parametrize("shape", SHAPES)
def test_materials_are_outlined_where_they_are(tmp_path, shape):
    text, inside = SHAPES[shape]
    path = run_case(tmp_path, BODY.replace("SHAPE", text))
    assert_outlined(draw(path, tmp_path / "p.png"), lambda across, up: inside(0.4 * across, 0.2 * up))


LABELLED = """
grid = { GRID };
materials = ( { name = "a"; diffusivity = 1e-6; }, { name = "b"; diffusivity = 1e-5; },
              { name = "c"; diffusivity = 1e-6; } );
body = ( { file = "label.npy"; names = ["c", "a", "b"]; labels = [7, 1, 300]; } );
initial = { value = 300.0; };
boundary = { all = { type = "reflective"; }; FACES };
time = { sweeps = 1; };
"""
EVEN = np.linspace(0, 0.4, 41), np.linspace(0, 0.2, 21), np.linspace(0, 0.1, 11)
WIDER = 0.4 * np.linspace(0, 1, 41) ** 1.5  # stretched
PERIODIC = 'x_min = { type = "periodic"; }; x_max = { type = "periodic"; };'
# grid, faces, axes x, y, z, whether there is one label less along each, and the axis and place of a slice
LABELS = {
    "nodes": ("points = [41, 21]; upper = [0.4, 0.2];", "", EVEN[:2], [0, 0], None),
    "cells": ("points = [41, 21]; upper = [0.4, 0.2];", "", EVEN[:2], [1, 1], None),
    "cells, periodic": ("points = [41, 21]; spacing = 0.01;", PERIODIC, EVEN[:2], [0, 1], None),
    "nodes, stretched": (f"x = {WIDER.tolist()}; y = {EVEN[1].tolist()};", "", (WIDER, EVEN[1]), [0, 0], None),
    "cells, stretched": (f"x = {WIDER.tolist()}; y = {EVEN[1].tolist()};", "", (WIDER, EVEN[1]), [1, 1], None),
    "nodes, z": ("points = [41, 21, 11]; spacing = 0.01;", "", EVEN, [0, 0, 0], ("z", 0.0432)),
    "nodes, further up z": ("points = [41, 21, 11]; spacing = 0.01;", "", EVEN, [0, 0, 0], ("z", 0.0467)),
    "cells, z": ("points = [41, 21, 11]; spacing = 0.01;", "", EVEN, [1, 1, 1], ("z", 0.0467)),
    "cells, the last z": ("points = [41, 21, 11]; spacing = 0.01;", "", EVEN, [1, 1, 1], ("z", 0.1)),
    "nodes, y": ("points = [41, 21, 11]; spacing = 0.01;", "", EVEN, [0, 0, 0], ("y", 0.1932)),
    "cells, x": ("points = [41, 21, 11]; spacing = 0.01;", "", EVEN, [1, 1, 1], ("x", 0.2345)),
}


def labels_of(shape, block=3):
    """Blocks of three materials, which differ from plane to plane."""
    rng = np.random.default_rng(len(shape))
    coarse = rng.choice(np.array([1, 7, 300], np.uint16), [1 + n // block for n in shape])
    for axis in range(len(shape)):
        coarse = np.repeat(coarse, block, axis=axis)
    return coarse[tuple(slice(n) for n in shape)]


def owner(axis, less, at):
    """The node nearest to each place, or the cell that contains it."""
    if less:
        return np.minimum(np.searchsorted(axis, at, side="right") - 1, len(axis) - 2)
    return np.abs(axis - np.asarray(at)[..., None]).argmin(axis=-1)


@pytest.mark.parametrize("name", LABELS)
def test_labels_are_outlined_where_they_are(tmp_path, name):
    grid, faces, axes, less, cut = LABELS[name]
    label = labels_of([len(axis) - one for axis, one in zip(axes, less)][::-1])
    np.save(tmp_path / "label.npy", label)
    path = run_case(tmp_path, LABELLED.replace("GRID", grid).replace("FACES", faces))
    image = draw(path, tmp_path / "p.png", *(["--slice", f"{cut[0]}={cut[1]}"] if cut else []))
    less = [max(less)] * len(less)  # the last cell of a periodic axis is outside the picture
    shown, plane = list(zip(axes, less)), label
    if cut:
        n = "xyz".index(cut[0])
        plane = np.take(label, owner(*shown.pop(n), cut[1]), axis=2 - n)
    (x, of_cells), (y, _) = shown
    assert_outlined(image, lambda across, up: plane[owner(y, of_cells, y[-1] * up), owner(x, of_cells, x[-1] * across)])


def borders_in(image):
    """Where lines stand in a line plot, 0 to 1 across; a curve may cover a part of them."""
    left, top, w, h = plot_area(image)
    lined = (np.abs(image[top : top + h, left : left + w] - PART).max(axis=2) <= 2).mean(axis=0) > 0.7
    first = np.flatnonzero(np.diff(np.r_[0, lined]) == 1)
    return (first + 1) / w


BAR = BODY.replace("points = [41, 21]; upper = [0.4, 0.2]", "points = [41]; upper = [0.4]")


def test_materials_of_a_line_have_borders(tmp_path):
    path = run_case(tmp_path, BAR.replace("SHAPE", 'box"; lower = [0.1]; upper = [0.303];'))
    for output, more in (("p.png", []), ("q.png", ["--step", "all"])):
        assert borders_in(draw(path, tmp_path / output, *more)) == pytest.approx([0.25, 0.7575], abs=2e-3)
    path = run_case(tmp_path, BAR.replace('body = ( { material = "a"; }, { material = "b"; shape = "SHAPE } );', 'body = ( { material = "b"; } );'), "--overwrite")
    assert borders_in(draw(path, tmp_path / "p.png")).size == 0


@pytest.mark.parametrize("axis, at, borders", [("y", 0.1, [0.325, 0.675]), ("y", 0.155, [0.3908, 0.6092]), ("x", 0.2, [0.15, 0.85]), ("y", 0.19, [])])
def test_materials_have_borders_where_a_plate_is_cut(tmp_path, axis, at, borders):
    path = run_case(tmp_path, BODY.replace("SHAPE", SHAPES["disc"][0]))
    assert borders_in(draw(path, tmp_path / "p.png", "--slice", f"{axis}={at}")) == pytest.approx(borders, abs=2e-3)


@pytest.mark.parametrize("cut", [None, "y=0.05", "x=0.11"])
@pytest.mark.parametrize("less", [0, 1], ids=["nodes", "cells"])
def test_labels_of_a_line_have_borders(tmp_path, less, cut):
    axes = EVEN[:2] if cut else EVEN[:1]
    label = labels_of([len(axis) - less for axis in axes[::-1]])
    np.save(tmp_path / "label.npy", label)
    grid = f"points = {[len(axis) for axis in axes]}; spacing = 0.01;"
    path = run_case(tmp_path, LABELLED.replace("GRID", grid).replace("FACES", ""))
    image = draw(path, tmp_path / "p.png", *(["--slice", cut] if cut else []))
    line, along = label, axes[0]
    if cut:
        n = "xy".index(cut[0])
        line, along = np.take(label, owner(axes[n], less, float(cut[2:])), axis=1 - n), axes[1 - n]
    expected = (np.flatnonzero(np.diff(line.astype(int))) + (1 if less else 0.5)) / (len(along) - 1)
    assert expected.size > 1 and borders_in(image) == pytest.approx(expected, abs=2e-3)


@pytest.mark.parametrize("less", [0, 1], ids=["nodes", "cells"])
def test_the_file_has_the_labels_once(tmp_path, less):
    """Labels are stored by the materials' numbers, and a resumed run leaves them in place."""
    label = labels_of([400 - less, 401 - less], 50)
    np.save(tmp_path / "label.npy", label)
    text = LABELLED.replace("GRID", "points = [401, 400]; spacing = 0.001;").replace("FACES", "")
    path = run_case(tmp_path, text + "output = { every = 1; };")
    with h5py.File(path) as f:
        number = {name: f[f"materials/{name}"].attrs["number"] for name in "abc"}
        assert number == {"a": 0, "b": 1, "c": 2}
        stored = f["body/labels"]
        assert stored.dtype == np.uint8 and stored.fletcher32 and stored.compression == "gzip"
        expected = np.select([label == 7, label == 1], [number["c"], number["a"]], number["b"])
        assert (stored[:] == expected).all()
        one, place = stored.id.get_storage_size(), stored.id.get_chunk_info(0).byte_offset
        rest = f["temperature"].id.get_storage_size()
        assert one < 0.05 * label.size
    must(tmp_path, "run", "case.cfg", "--quiet", "--resume", "--set", "time.sweeps=3")
    with h5py.File(path) as f:
        assert (f["body/labels"][:] == expected).all() and len(f["temperature"]) == 4
        assert f["body/labels"].id.get_chunk_info(0).byte_offset == place
    assert rest > 10 * one


def test_labels_that_are_damaged_are_told(tmp_path):
    label = labels_of([20, 40])
    np.save(tmp_path / "label.npy", label)
    path = run_case(tmp_path, LABELLED.replace("GRID", "points = [41, 21]; spacing = 0.01;").replace("FACES", ""))
    with h5py.File(path) as f:
        chunk = f["body/labels"].id.get_chunk_info(0)
    data = bytearray(path.read_bytes())
    data[chunk.byte_offset + chunk.size // 2] ^= 4
    path.write_bytes(data)
    result = render(path, "-o", tmp_path / "p.png")
    assert result.returncode == 0 and "cannot read /body/labels: the file is damaged" in result.stderr
    field = read_png(tmp_path / "p.png")
    left, top, w, h = plot_area(field)
    assert len(np.unique(field[top : top + h, left : left + w].reshape(-1, 3), axis=0)) == 1


def test_shapes_that_are_none_do_not_spoil_a_picture(tmp_path):
    path = write(tmp_path / "x.h5", np.full((1, 5, 9), 300.0) + np.arange(9), [np.arange(9.0), np.arange(5.0)])
    plain = draw(path, tmp_path / "a.png")
    for numbers in ([], [np.nan] * 50, [7.0] * 42, [0.0] * 21):  # the last is one shape, without an outline
        with h5py.File(path, "a") as f:
            f.pop("body", None)
            f.create_dataset("body/shapes", data=np.array(numbers, dtype=float))
        assert (draw(path, tmp_path / "b.png") == plain).all()
