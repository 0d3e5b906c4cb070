"""heatsolve bench: table, JSON and CSV agree, bad requests are refused, and peers are listed with the kernels."""

import csv
import io
import json
import os
import pathlib
import struct
import sys

import pytest
from program import heatsolve

ROOT = pathlib.Path(__file__).resolve().parents[2]
SMALL = ["--backend", "cpu", "--points", "33", "--repeats", "3", "--threads", "1"]


def bench(*arguments, peers=None):
    environment = dict(os.environ, PYTHON=sys.executable)
    environment["HEATSOLVE_PEERS"] = str(peers or ROOT / "tests" / "peers")
    return heatsolve(".", "bench", *arguments, env=environment, timeout=300)


def test_json_says_what_was_measured():
    result = bench(*SMALL, "--precision", "float", "--json")
    assert result.returncode == 0, result.stderr
    figures = json.loads(result.stdout)
    assert figures["points"] == [33, 33, 33] and figures["precision"] == "float"
    rows = {row["kernel"]: row for row in figures["kernels"]}
    assert {"reference", "openmp"} <= set(rows)
    for row in rows.values():
        assert row["proven"] and row["apart"] <= row["bound"]
        cache = row["cache"]  # 33^3 fits into any cache
        assert cache["field_pairs"] == 1 and cache["samples"] == 3
        seconds = cache["seconds_per_sweep"]
        assert 0 < seconds["min"] <= seconds["median"] <= seconds["max"]
        # 31^3 points are updated, with 2 words of 4 bytes each; figures are printed with %.17g
        assert cache["gcells"] == pytest.approx(31**3 / seconds["median"] * 1e-9, rel=1e-12)
        assert cache["bytes_per_second"] == pytest.approx(8e9 * cache["gcells"], rel=1e-12)
    slowest = rows["reference"]["cache"]
    assert slowest["speedup"] == 1.0
    fast = rows["openmp"]["cache"]
    assert fast["speedup"] == pytest.approx(fast["gcells"] / slowest["gcells"], rel=1e-12)


def test_csv_has_a_line_a_kernel():
    result = bench(*SMALL, "--csv")
    assert result.returncode == 0, result.stderr
    rows = {row["kernel"]: row for row in csv.DictReader(io.StringIO(result.stdout))}
    assert float(rows["reference"]["speedup"]) == 1.0
    for row in rows.values():
        assert None not in row and None not in row.values()  # as many values as columns
        assert row["kind"] == "kernel" and row["fields"] == "cache" and row["proven"] == "1"
        assert row["points"] == "33x33x33" and row["dims"] == "3" and row["precision"] == "double"
        # printed with %.6g and %.6e
        assert float(row["gcells"]) == pytest.approx(31e-9 * 31**2 / float(row["seconds_median"]), rel=1e-5)


def test_one_kernel_alone_has_no_baseline():
    result = bench(*SMALL, "--kernel", "openmp", "--json")
    assert json.loads(result.stdout)["kernels"][0]["cache"]["speedup"] is None
    line = [line for line in bench(*SMALL, "--kernel", "openmp").stdout.splitlines() if line.startswith("openmp")]
    assert line[0].split()[6] == "-"


def test_kernels_are_chosen_by_lists():
    def timed(*arguments):
        result = bench(*SMALL, *arguments, "--json")
        assert result.returncode == 0, result.stderr
        return [row["kernel"] for row in json.loads(result.stdout)["kernels"]]

    everything = timed()
    assert timed("--kernel", "reference,openmp") == ["openmp", "reference"]
    assert timed("--kernel", "reference, openmp", "--points", "33, 33, 33") == ["openmp", "reference"]
    assert timed("--except", "reference") == [name for name in everything if name != "reference"]
    assert timed("--kernel", "openmp,reference", "--except", "openmp") == ["reference"]


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("precision", ["float", "double"])
def test_numpy_as_a_peer(dims, precision):
    case = ["--dims", str(dims), "--precision", precision]
    result = bench(*SMALL, *case, "--peer", "numpy_slices", "--json")
    assert result.returncode == 0, result.stderr
    (peer,) = json.loads(result.stdout)["peers"]
    assert peer["peer"] == "numpy_slices" and peer["version"].startswith("numpy ")
    # numpy rounds twice per term where heatsolve rounds once: some ulps of 2 after 4 sweeps
    assert 0 <= peer["apart"] < (1e-5 if precision == "float" else 1e-14)
    assert peer["seconds_per_sweep"]["median"] > 0 and peer["gcells"] > 0 and peer["speedup"] > 0


def test_peers_stand_in_the_table():
    result = bench(*SMALL, "--peers")
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert any(line.startswith("peer: numpy_slices ") for line in lines)
    listed = {line.split()[0]: line for line in lines if line and line.split()[0].endswith(("_raw", "_tile"))}
    assert "needs a GPU" in listed["cupy_raw"] and "needs a GPU" in listed["triton_tile"]
    rows = list(csv.DictReader(io.StringIO(bench(*SMALL, "--peer", "numpy_slices", "--csv").stdout)))
    assert [row["kind"] for row in rows].count("peer") == 1 and rows[-1]["version"].startswith("numpy ")


def peer_script(tmp_path, name, body):
    for shared in ("absent.py", "common.py"):
        (tmp_path / shared).write_text((ROOT / "tests" / "peers" / shared).read_text())
    text = (ROOT / "tests" / "peers" / "numpy_slices.py").read_text()
    (tmp_path / f"{name}.py").write_text(body(text))


def test_a_wrong_peer_is_refused(tmp_path):
    peer_script(tmp_path, "wrong", lambda text: text.replace("self.c = case.c", "self.c = case.c[:1] + case.c[:0:-1]"))
    peer_script(tmp_path, "broken", lambda text: text.replace("def put", "def take"))
    peer_script(tmp_path, "mistyped", lambda text: "import common, no_such_thing\n")
    peer_script(tmp_path, "right", lambda text: text)
    result = bench(*SMALL, "--peers", "--json", peers=tmp_path)
    assert result.returncode == 0, result.stderr
    peers = {peer["peer"]: peer for peer in json.loads(result.stdout)["peers"]}
    assert "differs from numpy" in peers["wrong"]["failed"] and "gcells" not in peers["wrong"]
    assert "AttributeError" in peers["broken"]["failed"]
    assert "no_such_thing" in peers["mistyped"]["failed"]
    assert peers["right"]["gcells"] > 0
    table = bench(*SMALL, "--peers", peers=tmp_path).stdout.splitlines()
    assert any(line.startswith("wrong") and "failed: " in line for line in table)
    assert not any(line.startswith("peer: wrong") for line in table)


def test_a_slow_peer_is_ended(tmp_path):
    (tmp_path / "slow.py").write_text("import time\ntime.sleep(60)\n")
    result = bench(*SMALL, "--peers", "--peer-seconds", "1", peers=tmp_path)
    assert result.returncode == 0
    assert "longer than 1 s" in result.stdout


def test_the_roofline_is_drawn_and_said(tmp_path):
    picture = tmp_path / "roof.png"
    result = bench(*SMALL, "--roofline", str(picture), "--json")
    assert result.returncode == 0, result.stderr
    head = picture.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">II", head[16:]) == (1600, 1000)
    roofline = json.loads(result.stdout)["roofline"]
    assert roofline["flops_per_point"] == 13 and roofline["flops_per_second"] > 0
    for kernel in roofline["kernels"]:
        assert kernel["bound"] in ("memory", "cache", "arithmetic", "neither")
        due = min(roofline["copy_bytes_per_second"] * kernel["flops_per_byte"], roofline["flops_per_second"])
        assert kernel["ceiling"] == pytest.approx(due, rel=1e-12)
        assert kernel["fraction_of_ceiling"] == pytest.approx(kernel["flops_per_second"] / due, rel=1e-12)
    reference = [line for line in bench(*SMALL, "--roofline", str(picture)).stdout.splitlines() if line.endswith("neither: latency, issue")]
    assert any(line.startswith("reference") for line in reference)


def test_a_roofline_that_cannot_be_written_still_says_the_times(tmp_path):
    (tmp_path / "none").touch()
    result = bench(*SMALL, "--roofline", str(tmp_path / "none" / "roof.png"))
    assert result.returncode == 3 and "roof.png" in result.stderr
    assert "GCell/s" in result.stdout


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["--peers", "--radius", "2"], "--radius 1"),
        (["--peer", "fortran"], '"fortran"'),
        (["--points", "2"], "at least 3"),
        (["--points", "9223372036854775807"], "at most 1099511627776 are allowed"),
        (["--json", "--csv"], "not both"),
        (["--roofline", "roof.jpg"], "--roofline roof.jpg: pictures are PNG, SVG or PDF; end the name in .png, .svg or .pdf"),
        (["--precision", "half"], "float or double"),
        (["--kernel", "openmp,openmq"], "openmq"),
        (["--backend", "metal"], '--backend "metal": is neither "cpu" nor "cuda"; this build has: '),
        (["--except", "openmq"], "openmq"),
        (["--kernel", "openmp", "--except", "openmp"], "no kernel is left"),
    ],
)
def test_bad_arguments(arguments, said):
    result = bench("--backend", "cpu", *arguments)
    assert result.returncode == 2 and said in result.stderr and result.stdout == ""


def test_no_peers_are_found(tmp_path):
    result = bench(*SMALL, "--peers", peers=tmp_path)
    assert result.returncode == 2 and "HEATSOLVE_PEERS" in result.stderr


@pytest.mark.parametrize("kernel, said", [("opnmp", "no kernel has that name"), ("conduction_wavefront", "cannot do stencils")])
@pytest.mark.parametrize("backend", ["auto", "cpu"])
def test_a_kernel_is_refused_by_the_option_that_named_it(kernel, said, backend):
    result = bench("--points", "33", "--kernel", kernel, "--backend", backend)
    assert result.returncode == 2
    assert f'heatsolve: --kernel "{kernel}": ' in result.stderr
    assert said.replace("no kernel has", "none of" if backend == "cpu" else "no kernel has") in result.stderr


def test_a_kernel_for_bodies_is_refused_for_a_stencil_by_what_it_is_for(tmp_path):
    done = heatsolve(tmp_path, "bench", "--points", "9", "--kernel", "conduction_wavefront")
    assert done.returncode == 2
    assert "conduction_wavefront cannot do stencils, only bodies of several materials; kernels that can" in done.stderr
