"""docs/benchmarks/table.py puts the right number into the right cell, and model.py's sums are right."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "docs" / "benchmarks"))

import model  # noqa: E402
import table  # noqa: E402

HEAD = "kernel,kind,device,points,dims,radius,precision,steps,fields,gcells,fraction_of_copy,seconds_median\n"


def line(kernel, points, gcells, share=0.5, kind="kernel", precision="float", fields="memory", steps=1, device="H200"):
    return f'{kernel},{kind},"{device}",{points},3,1,{precision},{steps},{fields},{gcells},{share},2e-6\n'


@pytest.fixture
def data(tmp_path):
    first = tmp_path / "first.csv"
    first.write_text(
        HEAD
        + line("vector_march", "8x8x8", 1.0)
        + line("basic", "8x8x8", 100.4, 0.25)
        + line("basic", "8x8x8", 7.0, fields="cache")
        + line("basic", "8x8x8", 9.0, precision="double")
        + line("jax_jit", "8x8x8", 33.33, kind="peer")
        + line("openmp", "8x8x8", 2.0, device="2 threads of something")
    )
    second = tmp_path / "second.csv"
    second.write_text(HEAD + line("vector_march", "8x8x8", 250.0, 0.75) + HEAD + line("zebra", "9x9x9", 1.234, steps=4))
    return table.Data([first, second])


def test_rates_are_found_by_case(data):
    made = table.rates(data, {"precision": "float", "points": "8x8x8,9x9x9"}).splitlines()
    assert made[0] == "| kernel | 8³ float | 9³ float |"
    # in the order of the ladder; the last measurement counts, but none of the cache, the CPU or a peer
    assert made[2:] == [
        "| `basic` | 100 (0.25) | – |",
        "| `vector_march` | 250 (0.75) | – |",
        "| `zebra` | – | 1.23 (0.50) |",
    ]


def test_other_places_units_and_peers(data):
    cached = table.rates(data, {"precision": "float", "points": "8x8x8", "fields": "cache", "unit": "us"})
    assert cached.splitlines()[2:] == ["| `basic` | 2.00 |"]
    peers = table.rates(data, {"precision": "float,double", "points": "8x8x8", "kind": "peer"})
    assert peers.splitlines() == ["| peer | 8³ float |", "|---|---|", "| `jax_jit` | 33.3 (0.50) |"]


def test_the_cpus_numbers_are_asked_for(data):
    made = table.rates(data, {"precision": "float", "points": "8x8x8", "device": "cpu"})
    assert made.splitlines()[2:] == ["| `openmp` | 2.00 (0.50) |"]


def test_kernels_are_asked_for_by_name(data):
    made = table.rates(data, {"precision": "float", "points": "8x8x8", "kernels": "vector_march,nobody"})
    assert made.splitlines()[2:] == ["| `vector_march` | 250 (0.75) |", "| `nobody` | – |"]


def test_a_gain_is_over_the_rung_beside(data, monkeypatch):
    monkeypatch.setitem(table.STEPS, ("8x8x8", 1), [("basic", None, "first"), ("vector_march", "basic", "second")])
    made = table.gains(data, {"points": "8x8x8", "files": "cuda/"}).splitlines()[2:]
    assert made == [
        "| [`basic`](cuda/ladder/basic.cu) | first |  | 100 (0.25) |  | 9.00 (0.50) |  |",
        "| [`vector_march`](cuda/vector_march/vector_march.cu) | second | `basic` | 250 (0.75) | x 2.49 | – |  |",
    ]


def test_every_step_is_a_kernel_beside_an_earlier_one():
    files = {path.stem for path in (ROOT / "kernels" / "cuda").rglob("*.cu")}
    for case in table.STEPS.values():
        for n, (kernel, beside, idea) in enumerate(case):
            assert kernel in files and idea
            assert beside in ([step[0] for step in case[:n]] or [None])


def test_the_readmes_lines_are_the_fastest_of_their_kind(tmp_path):
    raw = tmp_path / "raw.csv"
    rows = [line("basic", "512x512x512", 100, 0.2), line("bulk_march", "512x512x512", 500, 0.99), line("fused_march_3d", "512x512x512", 1300, 2.6, steps=4)]
    rows += [line("fused_march_2d", "16384x16384", 3300, 6.4, steps=10), line("fused_line_1d", "268435456", 6200, 11.84, steps=32)]
    raw.write_text(HEAD + "".join(rows + [row.replace(",float,", ",double,").replace(".99", ".98") for row in rows]))
    made = table.summary(table.Data([raw]), {}).splitlines()[2:]
    assert [row.split(" | ")[1] for row in made] == ["100 (0.20)", "500 (0.99)", "1300 (2.60)", "3300 (6.40)", "6200 (11.8)"]
    assert made[1].endswith("| 500 (0.98) |")


def test_the_fastest_is_of_its_kind(data):
    assert table.best(data, "8x8x8", "float", 1, False)["kernel"] == "vector_march"
    assert table.best(data, "9x9x9", "float", 1, True)["kernel"] == "zebra"
    assert table.best(data, "9x9x9", "float", 1, False) is None
    assert table.best(data, "8x8x8", "float", 1, False, "cpu")["kernel"] == "openmp"


def test_a_page_is_rewritten_between_its_marks(tmp_path):
    (tmp_path / "raw.csv").write_text(HEAD + line("basic", "8x8x8", 5.0))
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- data: raw.csv -->\nbefore\n<!-- make: rates precision=float points=8x8x8 -->\nold\n<!-- end -->\nafter\n"
    )
    old, new = table.made(page)
    assert old != new and new.startswith("<!-- data: raw.csv -->\nbefore\n") and new.endswith("<!-- end -->\nafter\n")
    assert "| `basic` | 5.00 (0.50) |" in new and "old" not in new
    page.write_text(new)
    assert table.made(page)[1] == new


def test_whole_runs_are_compared_with_bench(data):
    head = ["walls", "source", "points", "precision", "kernel", "gcells"]
    rows = [("robin", "", "8x8x8", "float", "basic", "50.2"), ("robin", "x*t", "8x8x8", "double", "other", "7")]
    data.others["runs"] = [dict(zip(head, row)) for row in rows]
    assert table.runs(data, {}).splitlines()[2:] == [
        "| robin | none | 50.2 (`basic`, 0.50 of bench) | – |",
        "| robin | `x*t` | – | 7.00 (`other`) |",
    ]


def test_what_auto_loses_is_listed(data):
    head = ["case", "heuristic", "best", "ratio"]
    rows = [("a", "x", "x", "1.0"), ("b", "x", "y", "0.96"), ("c", "x", "y", "0.91"), ("d", "x", "y", "0.985")]
    data.others["auto"] = [dict(zip(head, row)) for row in rows]
    made = table.auto(data, {}).splitlines()[2:]
    assert made[:2] == ["| c | `x` | `y` | 0.91 |", "| b | `x` | `y` | 0.96 |"] and made[2].startswith("| the other 2 |")
    data.others["auto"] = data.others["auto"][:1]
    assert table.auto(data, {}).splitlines()[2].startswith("| all 1 |")


def test_the_sanitizers_words_are_added_up(data):
    head = ["tool", "program", "cases", "all", "errors", "seconds"]
    rows = [("memcheck", "small", "90", "90", "1", "12"), ("memcheck", "backend", "", "", "2", "3"), ("racecheck", "small", "60", "90", "0", "40"), ("racecheck", "small", "30", "90", "0", "35")]
    data.others["sanitize"] = [dict(zip(head, row)) for row in rows]
    assert table.sanitize(data, {}).splitlines()[2:] == ["| memcheck | 90 | 3 | 15 |", "| racecheck | 90 | 0 | 40 |"]
    data.others["sanitize"][2]["errors"] = ""  # it was killed
    assert table.sanitize(data, {}).splitlines()[3] == "| racecheck | 90 | not told | 40 |"


def test_rows_of_another_commit_are_named(tmp_path):
    raw = tmp_path / "raw.csv"
    rows = [("basic", "8x8x8", "new"), ("vector_march", "8x8x8", "new"), ("zebra", "8x8x8", "new"), ("basic", "9x9x9", "old"), ("basic", "7x7x7", "old")]
    raw.write_text("kernel,device,points,radius,precision,gcells,commit\n" + "".join(f"{k},H200,{p},1,float,1,{c}\n" for k, p, c in rows))
    assert table.measured(table.Data([raw]), {"points": "8x8x8,9x9x9"}) == "H200, commit new.\nOf commit old: 9³ float: `basic`."


def test_new_measurements_are_taken(tmp_path):
    docs, left = tmp_path / "docs", tmp_path / "left"
    subprocess.run(["cp", "-r", str(ROOT / "docs"), str(docs)], check=True)
    (tmp_path / "kernels").symlink_to(ROOT / "kernels")  # the pages link to it
    left.mkdir()
    old = (docs / "benchmarks" / "h200.csv").read_text().splitlines()
    field = old[0].split(",").index("gcells") + 1  # the name of the device has a comma between quotes
    row = next(r for r in old if r.startswith("basic") and ",512x512x512,3,1,float," in r).split(",")
    row[field] = "123.4"
    (left / "bench.csv").write_text(old[0] + "\n" + ",".join(row) + "\n")
    (left / "peers.csv").write_text("")  # nothing was measured: the existing table stays
    peers = (docs / "benchmarks" / "h200-peers.csv").read_text()
    run = [sys.executable, "-B", str(docs / "benchmarks" / "table.py"), "--take", str(left)]
    assert "taken: bench.csv" in subprocess.run(run, capture_output=True, text=True, check=True, env=os.environ).stdout
    assert "| 123 (" in (docs / "benchmarks.md").read_text()
    assert (docs / "benchmarks" / "h200-peers.csv").read_text() == peers


def test_a_stale_page_fails_the_check(tmp_path):
    docs = tmp_path / "docs"
    subprocess.run(["cp", "-r", str(ROOT / "docs"), str(docs)], check=True)
    (tmp_path / "kernels").symlink_to(ROOT / "kernels")  # the pages link to it
    run = [sys.executable, "-B", str(docs / "benchmarks" / "table.py"), "--check"]
    assert subprocess.run(run, capture_output=True, env=os.environ).returncode == 0
    page = docs / "benchmarks.md"
    page.write_text(page.read_text().replace("| `basic` | ", "| `basic` | 9", 1))
    stale = subprocess.run(run, capture_output=True, text=True, env=os.environ)
    assert stale.returncode == 1 and "benchmarks.md" in stale.stdout


def test_the_model_of_a_copy():
    # two words a point and nothing else: the rate is the copy's
    cost = model.Cost(2, 2, 0.0, 0.0)
    for precision, size in (("float", 4), ("double", 8)):
        times = cost.times(precision, size)
        assert max(times, key=times.get) == "memory"
        assert times["memory"] == pytest.approx(2 * size / model.COPY[precision])


def test_every_model_is_for_a_kernel_and_counts_something():
    files = {path.stem for path in (ROOT / "kernels" / "cuda").rglob("*.cu")}
    for dims, radius, kernel in model.MODELS:
        if kernel not in files:
            pytest.fail(f"model.py knows {kernel}, which is no kernel")
        for precision in ("float", "double"):
            c = model.cost(dims, kernel, precision, radius)
            assert 0 < c.memory <= 2.0 and c.l2 > 0 and c.pipe > 0 and c.fma >= 2 * radius * dims + 1
            assert model.predict(dims, kernel, precision, radius)[0] > 0
    assert model.predict(3, "no such kernel", "float") is None
