"""What the documents name exists: files, commands, options, make's targets, config keys."""

import json
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest
import xarray
from program import HEATSOLVE, heatsolve, must

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "data").glob("*.md")])
# pages that show commands; the man page's dashes are macros, so it has its own tests
SPOKEN = PAGES + sorted((ROOT / "configs").rglob("*.cfg"))


def names(path):
    return str(path.relative_to(ROOT))


def commands():
    return re.findall(r"^  ([a-z]+) ", must(".", "--help"), re.M)


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_links_lead_to_files(page):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
        if not re.match(r"[a-z]+:", target):
            assert (page.parent / target).exists(), f"{names(page)}: no file {target}"


def anchors(page):
    """The anchors that links into a page may use: its headings in GitHub's form, without code marks and links."""
    told = re.findall(r"^#+ (.*)$", page.read_text(), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in told}


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_links_lead_to_headings(page):
    for target, heading in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", page.read_text()):
        there = page.parent / target if target else page
        assert heading in anchors(there), f"{names(page)}: no heading {heading} in {names(there.resolve())}"


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_files_named_in_code_marks_exist(page):
    for target in re.findall(r"`((?:src|docs|configs|data|kernels|tests|\.ci)/[\w./-]+)`", page.read_text()):
        if not re.search(r"[A-Z]{3,}", target):  # NAME, LAYER, DEVICE are placeholders
            assert (ROOT / target).exists(), f"{names(page)}: no file {target}"


def shown_commands(text):
    """(command, rest of the line) for each `heatsolve WORD ...` in code; prose is skipped."""
    for line in text.splitlines():
        code = [line] if re.match(r"(//)? {4,}", line) else re.findall(r"`([^`]+)`", line)
        for part in code:
            for match in re.finditer(r"(?:^|[\s/|;(])heatsolve ([a-z]+)([^|;>]*)", part):
                yield match.group(1), match.group(2)


@pytest.mark.parametrize("page", SPOKEN, ids=names)
def test_commands_and_their_options_are_real(page):
    known = commands()
    for command, rest in shown_commands(page.read_text()):
        assert command in known, f"{names(page)}: heatsolve {command}"
        told = must(".", command, "--help")
        for option in re.findall(r"(?:^|\s)(--?[a-z][a-z-]*)", rest.split("  #")[0]):
            if option != "--help":
                assert re.search(rf"(?<![\w-]){option}(?![\w-])", told), f"{names(page)}: heatsolve {command} {option}"


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_make_targets_are_real(page):
    makefile = (ROOT / "Makefile").read_text()
    makefile += "".join(p.read_text() for p in (ROOT / "kernels").glob("*/*.mk"))
    for line in page.read_text().splitlines():
        for part in [line] if line.startswith("    ") else re.findall(r"`([^`]+)`", line):
            for target in re.findall(r"(?:^|\s)make ([a-z][a-z-]*)\b(?!=)", part):
                assert re.search(rf"^{target}:", makefile, re.M), f"{names(page)}: make {target}"


@pytest.mark.parametrize("page", SPOKEN, ids=names)
def test_overridden_keys_are_known(page):
    table = must(".", "options", "--keys").split()
    assert "time.end" in table
    for key in re.findall(r"--set '?([a-z_.0-9\[\]]+)=", page.read_text()):
        pattern = re.sub(r"\[\d+\]", "[]", key)
        known = any(row == pattern or row.startswith(pattern + ".") for row in table)  # or a whole group
        assert known, f"{names(page)}: --set {key}"


def readme_example():
    """The config of the README's own case: the indented block that begins with its title."""
    text = (ROOT / "README.md").read_text()
    return "".join(line[4:] for line in re.search(r"((?:    .*\n)+)\nThen", text).group(1).splitlines(True))


def test_the_readmes_own_case_runs_as_it_says(tmp_path):
    (tmp_path / "rod.cfg").write_text(readme_example())
    for arguments in (["check", "rod.cfg"], ["run", "rod.cfg"], ["render", "rod.h5", "-o", "rod.png"]):
        must(tmp_path, *arguments)
    run = xarray.open_dataset(tmp_path / "rod.h5", engine="h5netcdf")
    # between 273.15 K at the ends and 473.15 K in the middle at the start
    assert 300 < run.temperature.sel(time=1800, x=0.25).item() < 340


def test_the_guides_refinement_gives_its_figures(tmp_path):
    (tmp_path / "rod.cfg").write_text(readme_example())
    section = re.search(r"^## A temperature to trust\n(.*?)^## ", (ROOT / "docs" / "guide.md").read_text(), re.M | re.S).group(1)
    told = {nodes: value for nodes, value in re.findall(r"^\| (\d+) \| ([\d.]+) \|$", section, re.M)}
    loop = re.search(r"((?:^    .*\n)+)", section, re.M).group(1)
    assert list(told) == re.search(r"for n in ([\d ]+);", loop).group(1).split()
    path = f"{pathlib.Path(HEATSOLVE).parent}:{os.environ['PATH']}"
    subprocess.run(["sh", "-ec", loop], cwd=tmp_path, env=dict(os.environ, PATH=path), check=True)
    for nodes, value in told.items():
        run = xarray.open_dataset(tmp_path / f"rod{nodes}.h5", engine="h5netcdf")
        assert f"{run.temperature.sel(time=1800, x=0.25).item():.4f}" == value


def test_the_guides_tables_in_csv_are_written(tmp_path):
    after = (ROOT / "docs" / "guide.md").read_text().partition("**CSV.**")[2]
    script = re.search(r"((?:^    .*\n)+)", after, re.M).group(1)
    small = ["--set", "grid.points=[9,9,9]", "--set", "time.end=2.0", "--set", "output.interval=1.0"]
    must(tmp_path, "run", ROOT / "configs" / "demo.cfg", "--quiet", *small)
    subprocess.run([sys.executable, "-c", re.sub("^    ", "", script, flags=re.M)], cwd=tmp_path, check=True)
    depths, probes = (np.genfromtxt(tmp_path / name, delimiter=",", names=True) for name in ("depths.csv", "probes.csv"))
    assert len(depths.dtype.names) == 4 and depths.shape == (3,) and np.isfinite(depths["002"]).all()
    with xarray.open_dataset(tmp_path / "out" / "demo.h5", engine="h5netcdf", group="probes") as run:
        assert (probes["under_200W"] == run.under_200W.values).all()


def guides_body():
    return re.search(r"^## A body of several materials\n(.*?)^## ", (ROOT / "docs" / "guide.md").read_text(), re.M | re.S).group(1)


def test_the_guides_foam_is_made_and_conducts(tmp_path):
    """The guide's scripts and config, on a scan with layers along the flow and on its own random balls."""
    Image = pytest.importorskip("PIL.Image")
    section = guides_body()
    for name in ("label.py", "foam.cfg", "conducts.py", "balls.py"):
        after = section[section.index(f"`{name}`") :]
        block = re.search(r"((?:    .*\n)(?:(?:    .*)?\n)*)", after).group(1)
        (tmp_path / name).write_text("".join(line[4:] for line in block.splitlines(True)))
    (tmp_path / "scan").mkdir()
    for z in range(24):  # the upper third of each picture is dark
        grey = np.full((24, 24), 200, np.uint8)
        grey[:8] = 40
        Image.fromarray(grey).save(tmp_path / "scan" / f"{z:03}.png")

    def python(name):
        done = subprocess.run([sys.executable, name], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert python("label.py").split()[-1].startswith("0.6666")
    assert not np.load(tmp_path / "foam.npy")[:, 16:].any()
    must(tmp_path, "run", "foam.cfg", "--quiet")
    conducts = float(python("conducts.py").split()[0])
    # parallel layers conduct 0.142; less where heat must first find its way into the better conductor
    assert 1 / (1 / 3 / 0.0263 + 2 / 3 / 0.2) < conducts < (0.0263 + 2 * 0.2) / 3
    python("balls.py")
    must(tmp_path, "check", "foam.cfg", "--set", "grid.points=[65,65,65]")


def test_the_guides_chip_is_as_it_says(tmp_path):
    """What check prints of the body, and the temperatures in the answer."""
    section = guides_body()
    told = must(".", "check", ROOT / "configs" / "chip.cfg")
    shown = re.search(r"^    (body  .*\n(?:     .*\n)+)", section, re.M).group(1)
    assert [line.strip() for line in shown.splitlines()] == [line.strip() for line in told.splitlines() if line.strip() in shown]
    chip = ["--set", "time.end=35", "--output", "chip.h5", "--json"]
    done = heatsolve(tmp_path, "run", ROOT / "configs" / "chip.cfg", *chip)
    last = {name: f"{value:.1f}" for name, value in json.loads(done.stdout)["probes"].items()}
    assert f"the core is at {last['core']} °C, the spreader at {last['spreader']} and the sink at {last['sink']}" in section


def test_the_readmes_message_is_what_a_slip_gets(tmp_path):
    (tmp_path / "rod.cfg").write_text(readme_example().replace("value = 273.15", "vlaue = 273.15"))
    result = heatsolve(tmp_path, "check", "rod.cfg")
    assert result.returncode == 2
    shown = re.search(r"^    (heatsolve: rod\.cfg:.*)$", (ROOT / "README.md").read_text(), re.M).group(1)
    assert shown in result.stderr


def test_pictures_are_small_pngs():
    pictures = sorted((ROOT / "docs" / "images").glob("*"))
    assert pictures
    for picture in pictures:
        assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
        assert picture.stat().st_size < 300_000, picture.name  # keeps a clone small


def test_tables_are_what_the_raw_numbers_say():
    made = subprocess.run(
        [sys.executable, "-B", ROOT / "docs/benchmarks/table.py", "--check"], capture_output=True, text=True
    )
    assert made.returncode == 0, made.stdout + made.stderr


def test_the_manual_page_is_clean_and_complete():
    page = ROOT / "docs" / "man" / "heatsolve.1"
    lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", page], capture_output=True, text=True)
    assert lint.stdout == ""
    told = set(re.findall(r"^\.It Cm ([a-z]+)$", page.read_text(), re.M))
    assert told == set(commands()) - {"version"}


@pytest.mark.parametrize("command", ["run", "check", "verify", "bench", "tune", "explain", "kernels", "render", "init", "options"])
def test_the_manual_page_has_every_option(command):
    page = (ROOT / "docs" / "man" / "heatsolve.1").read_text()
    synopsis = re.search(rf"^\.Nm\n\.Cm {command}\n((?!\.Nm|\.Sh).*\n)+", page, re.M).group(0)
    shown = {"-" + option for option in re.findall(r"(?:Fl|\|) (-?[a-z][a-z-]*)", synopsis)}
    told = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", must(".", command, "--help")))
    if command == "render":  # users type the short option, which the man page shows
        told.remove("--output")
    assert told - shown == set() and {o for o in shown if o.startswith("--")} - told == set()


@pytest.mark.parametrize("page, name, first", [("guide.md", "kinds", "type"), ("file-format.md", "history", "quantity")])
def test_the_pages_tables_are_the_programs(page, name, first):
    text = (ROOT / "docs" / page).read_text()
    section = re.search(rf"^<!-- {name}: begin.*?\n(.*?)^<!-- {name}: end", text, re.M | re.S).group(1)
    tables = must(".", "options", "--markdown").split("\n\n")
    assert section.strip() in [t.strip() for t in tables if t.startswith(f"| {first} |")], "make man brings it up to date"


def test_the_manual_pages_keys_are_the_options_table():
    page = (ROOT / "docs" / "man" / "heatsolve.1").read_text()
    section = re.search(r"^\.\\\" keys: begin.*?\n(.*?)^\.\\\" keys: end", page, re.M | re.S).group(1)
    assert section == must(".", "options", "--man"), "make man brings it up to date"
