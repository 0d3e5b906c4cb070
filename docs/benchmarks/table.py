"""Puts the numbers of the raw CSV files into the tables of the README and of the pages in docs/.

    python3 docs/benchmarks/table.py            rewrites the tables in place
    python3 docs/benchmarks/table.py --check    says which pages are out of date; exit 1 if there is one
    python3 docs/benchmarks/table.py --take DIR  first copies new measurements from the output of tests/gpu/run

A page names its data, with paths relative to itself, and the place of each table:

    <!-- data: benchmarks/h200.csv -->
    <!-- counters: benchmarks/h200-counters.csv -->
    <!-- runs: benchmarks/h200-runs.csv -->
    <!-- make: rates dims=3 precision=float points=128x128x128,512x512x512 -->
    ... made by this script ...
    <!-- end -->

`data` is the output of `heatsolve bench --csv`, of any number of runs joined together. If a case was measured twice,
also in different files, the later line counts. `counters`, `runs`, `auto` and `sanitize` are the output of the parts of
tests/gpu/run with these names, `answers` is that of `heatsolve bench --methods --csv`. A page without such marks is
left unchanged.
"""

import csv
import pathlib
import re
import shutil
import sys

sys.dont_write_bytecode = True  # writes no bytecode into docs/
import model

DOCS = pathlib.Path(__file__).resolve().parent.parent
KERNELS = DOCS.parent / "kernels/cuda"
PAGES = sorted([*DOCS.parent.glob("README.md"), *DOCS.rglob("*.md")])
LADDER = (
    "reference openmp wavefront basic shared_tile tile_2d collaborative_2d register_window warp_shuffle coarsened "
    "register_tile march_halo vector_march bulk_march temporal_2d temporal_3d fused_fields_3d fused_march_3d "
    "fused_radius2_3d fused_march_2d fused_line_1d resident"
).split()
PEERS = (
    "cupy_slices cupy_fused cupy_raw torch_eager torch_compile torch_conv jax_jit numba_loops triton_tile numpy_slices"
).split()
OTHERS = ("counters", "runs", "auto", "sanitize", "answers")  # tables whose data are not from plain `bench`


# ---- the data ------------------------------------------------------------------------------------


def number(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return float("nan")


class Data:
    """The rows of bench, found by case; if a case was measured twice the last measurement counts."""

    def __init__(self, paths):
        self.rows = {}
        self.others = {kind: [] for kind in OTHERS}
        for path in paths:
            header = None
            for line in csv.reader(path.read_text().splitlines()):
                if line[:1] == ["kernel"]:
                    header = line
                elif header and line:
                    self.add(dict(zip(header, line)))

    def add(self, row):
        row["kind"] = row.get("kind") or "kernel"
        row["fields"] = row.get("fields") or "memory"
        row["steps"] = int(row.get("steps") or (2 if re.match("fused|temporal|resident|wave", row["kernel"]) else 1))
        row["device_name"] = row["device"]
        row["device"] = "cpu" if "thread" in row["device"] else "cuda"
        for key in ("gcells", "fraction_of_copy", "speedup", "seconds_median", "copy_bytes_per_second"):
            row[key] = number(row.get(key))
        if row["gcells"] == row["gcells"]:
            at = (row["points"], int(row["radius"]), row["precision"], row["fields"], row["kernel"], row["kind"])
            self.rows[at + (row["device"],)] = row

    def find(self, kernel, points, precision, radius=1, fields="memory", kind="kernel", device="cuda"):
        return self.rows.get((points, radius, precision, fields, kernel, kind, device))

    def case(self, points, precision, radius=1, fields="memory", kind="kernel", device="cuda"):
        """All rows of a case."""
        wanted = (points, radius, precision, fields)
        return [r for at, r in self.rows.items() if at[:4] == wanted and at[5:] == (kind, device)]

    def names(self, cases, kind="kernel", device="cuda"):
        """The kernel names found in several cases, in the order of the ladder."""
        found = {row["kernel"] for case in cases for row in self.case(*case, kind=kind, device=device)}
        known = [name for name in LADDER + PEERS if name in found]
        return known + sorted(found - set(known))


# ---- tables --------------------------------------------------------------------------------------


def shown(value):
    """A number with three significant digits, or fewer if they are not certain."""
    if value != value:
        return "–"
    return f"{value:.0f}" if value >= 99.5 else f"{value:.1f}" if value >= 9.95 else f"{value:.2f}"


def markdown(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def grid_name(points):
    sides = points.split("x")
    if len(set(sides)) > 1:
        return " x ".join(sides)
    power = {"268435456": "2^28"}.get(sides[0], sides[0])
    return power + {1: "", 2: "²", 3: "³"}[len(sides)]


def rates(data, options):
    """GCell/s, and the fraction of copy bandwidth; rows are kernels, columns are cases."""
    fields = options.get("fields", "memory")
    cases = [
        (points, precision, int(radius), fields)
        for points in options["points"].split(",")
        for radius in options.get("radius", "1").split(",")
        for precision in options["precision"].split(",")
    ]
    many = len(options.get("radius", "1").split(",")) > 1
    kind, device = options.get("kind", "kernel"), options.get("device", "cuda")
    cases = [case for case in cases if kind == "kernel" or data.case(*case, kind=kind, device=device)]
    head = [kind] + [
        (f"radius {case[2]}" if many else grid_name(case[0])) + f" {case[1]}" for case in cases
    ]
    rows = []
    for kernel in options["kernels"].split(",") if "kernels" in options else data.names(cases, kind, device):
        row = [f"`{kernel}`"]
        for case in cases:
            found = data.find(kernel, *case, kind=kind, device=device)
            if not found:
                row.append("–")
            elif options.get("unit") == "us":
                row.append(f"{1e6 * found['seconds_median']:.2f}")
            else:
                row.append(f"{shown(found['gcells'])} ({found['fraction_of_copy']:.2f})")
        rows.append(row)
    return markdown(head, rows)


SEED = [
    ("2D five-point, 4096²", "4096x4096", 2, "tile_2d collaborative_2d temporal_2d"),
    ("3D seven-point, 256³", "256x256x256", 3, "march_halo coarsened register_tile"),
]


def seed(data, options):
    """Naive against tiled in 2D, naive against 2.5D in 3D."""
    rows = []
    for title, points, _, names in SEED:
        for kernel in ["basic"] + names.split():
            row = [title if kernel == "basic" else "", f"`{kernel}`" + (" (naive)" if kernel == "basic" else "")]
            for precision in ("float", "double"):
                found, naive = (data.find(k, points, precision) for k in (kernel, "basic"))
                row += [shown(found["gcells"]), f"{found['gcells'] / naive['gcells']:.2f}"] if found and naive else ["–"] * 2
            rows.append(row)
        fastest = {p: max(data.case(points, p), key=lambda r: r["gcells"], default=None) for p in ("float", "double")}
        row = ["", "the fastest of all"]
        for precision, found in fastest.items():
            naive = data.find("basic", points, precision)
            row += [f"{shown(found['gcells'])}, `{found['kernel']}`", f"{found['gcells'] / naive['gcells']:.2f}"] if found and naive else ["–"] * 2
        rows.append(row)
    return markdown(["case", "kernel", "float", "x naive", "double", "x naive"], rows)


# Figures of other codes, which we built and ran on the same kind of GPU (or CPU), each at the grid where it was
# fastest: fraction of the device copy in that precision and, in brackets, GCell/s.
ELSEWHERE = [
    # case, result of the other code, our cases: (points, precision), fused
    ("one sweep a launch, 3D, radius 1", "0.92 float, 0.93 double: a plain 16-byte z-march at 512³ (483, 246)",
     ["512x512x512", "1024x1024x1024"], 1, False, ("float", "double")),
    ("one sweep a launch, 3D, radius 2", "–", ["512x512x512"], 2, False, ("float", "double")),
    ("one sweep a launch, 3D, radius 3", "–", ["512x512x512"], 3, False, ("float", "double")),
    ("fused, 3D, radius 1, float", "0.92: AN5D at 512³ (480)", ["512x512x512", "1024x1024x1024"], 1, True, ("float",)),
    ("fused, 3D, radius 1, double", "1.5: FastStencil at 512³ (400); 2.2 on 2560 x 216 x 572 (583), a grid shaped for it",
     ["512x512x512", "1024x1024x1024"], 1, True, ("double",)),
    ("fused, 3D, radius 2", "–", ["512x512x512"], 2, True, ("float", "double")),
    ("fused, 2D, radius 1, float", "2.9: AN5D at 16384² (1547); EBISU 1051 on 10208²", ["16384x16384"], 1, True, ("float",)),
    ("fused, 2D, radius 1, double", "7.9: FastStencil on 11616² (2107); EBISU 900 on 10208²", ["16384x16384"], 1, True, ("double",)),
    ("fused, 1D, radius 1", "–", ["268435456"], 1, True, ("float", "double")),
]
# On 2 cores of an AMD EPYC, relative to a threaded copy with non-temporal stores.
ELSEWHERE_CPU = [
    ("CPU, fused, 3D, radius 1", "1.05 double: Pluto's diamond tiling on 510³ (2.4); 0.9 float: YASK on 512³ (4.4)",
     ["384x384x384"], 1, True, ("float", "double")),
    ("CPU, one sweep at a time", "0.5 float: YASK on 512³ (2.5)", ["384x384x384"], 1, False, ("float", "double")),
]


def best(data, points, precision, radius, fused, device="cuda"):
    rows = [r for r in data.case(points, precision, radius, device=device) if (r["steps"] > 1) == fused]
    return max(rows, key=lambda r: r["gcells"], default=None)


def elsewhere(data, options):
    """Our results beside those of other codes, as fractions of copy bandwidth."""
    rows = []
    device = options.get("device", "cuda")
    for title, theirs, grids, radius, fused, precisions in ELSEWHERE_CPU if device == "cpu" else ELSEWHERE:
        ours = []
        for points in grids:
            for precision in precisions:
                found = best(data, points, precision, radius, fused, device)
                if found:
                    ours.append(f"{found['fraction_of_copy']:.2f} at {grid_name(points)} {precision} "
                                f"(`{found['kernel']}`, {shown(found['gcells'])})")
        rows.append([title, theirs, "; ".join(ours) or "not measured"])
    return markdown(["case", "best seen elsewhere, measured elsewhere", "heatsolve, fraction of copy bandwidth (kernel, GCell/s)"], rows)


# What each kernel adds to the one it is compared with, by case: (kernel, compared with, what is new).
STEPS = {
    ("512x512x512", 1): [
        ("basic", None, "one thread a point; the caches find what neighbours share"),
        ("shared_tile", "basic", "a block's points wait in shared memory; its halo's threads rest"),
        ("coarsened", "shared_tile", "the block marches along z: a plane is loaded once, an address made once a column"),
        ("register_tile", "coarsened", "z neighbours in registers, one plane in shared memory"),
        ("march_halo", "register_tile", "no thread rests: the block is the output, the halo is loaded besides"),
        ("vector_march", "march_halo", "16 bytes a thread, shuffles, no barrier: much is under way"),
        ("bulk_march", "vector_march", "TMA brings whole rows ahead; blocks are throttled so as not to drift apart"),
        ("temporal_3d", "shared_tile", "two sweeps in the tile before it is written, its halo shrinking"),
        ("fused_march_3d", "bulk_march", "four sweeps in one march, their planes in registers"),
        ("fused_fields_3d", "fused_march_3d", "three sweeps, so that sources and walls may vary from point to point"),
    ],
    ("16384x16384", 1): [
        ("basic", None, "one thread a point"),
        ("shared_tile", "basic", "a block's points wait in shared memory; its halo's threads rest"),
        ("tile_2d", "shared_tile", "no thread rests: the block is the output, its outer threads load the halo"),
        ("collaborative_2d", "tile_2d", "the threads stride over a larger tile: eight points a thread under way"),
        ("vector_march", "collaborative_2d", "16 bytes a thread, shuffles, no barrier"),
        ("bulk_march", "vector_march", "TMA brings whole rows ahead; blocks are throttled so as not to drift apart"),
        ("temporal_2d", "collaborative_2d", "four sweeps in the tile before it is written, its halo shrinking"),
        ("fused_march_2d", "bulk_march", "ten sweeps (double: 24) in one march, their rows in registers"),
    ],
    ("268435456", 1): [
        ("basic", None, "one thread a point"),
        ("shared_tile", "basic", "a block's points wait in shared memory"),
        ("register_window", "basic", "a thread slides over eight neighbouring points: fewest loads, worst lines"),
        ("warp_shuffle", "basic", "lanes hand their points to each other"),
        ("vector_march", "warp_shuffle", "16 bytes a load, four of them a thread under way"),
        ("fused_line_1d", "vector_march", "32 sweeps of a line that lies in a warp's registers"),
    ],
    ("512x512x512", 2): [
        ("basic", None, "one thread a point"),
        ("vector_march", "basic", "16 bytes a thread, shuffles, no barrier"),
        ("bulk_march", "vector_march", "TMA brings whole rows ahead; blocks are throttled so as not to drift apart"),
        ("fused_radius2_3d", "bulk_march", "two sweeps in one march, their sums in registers"),
    ],
}


def gains(data, options):
    """The rate of each kernel, and its ratio to that of the kernel it is compared with."""
    points, radius = options["points"], int(options.get("radius", 1))
    rows = []
    for kernel, beside, idea in STEPS[points, radius]:
        file = next(KERNELS.rglob(f"{kernel}.cu")).relative_to(KERNELS)
        row = [f"[`{kernel}`]({options['files']}{file})", idea, f"`{beside}`" if beside else ""]
        for precision in ("float", "double"):
            found, other = (data.find(k, points, precision, radius) for k in (kernel, beside))
            row.append(f"{shown(found['gcells'])} ({found['fraction_of_copy']:.2f})" if found else "–")
            row.append(f"x {found['gcells'] / other['gcells']:.2f}" if found and other else "")
        rows.append(row)
    return markdown(["kernel", "what is new", "beside", "float", "gain", "double", "gain"], rows)


SUMMARY = [
    # case, points, which kernel: one by name, or the fastest that fuses sweeps, or the fastest that does not
    ("3D, 512³: the textbook's first kernel", "512x512x512", "basic"),
    ("one sweep a launch", "512x512x512", "single"),
    ("fused sweeps, what `auto` takes", "512x512x512", "fused"),
    ("2D, 16384², fused", "16384x16384", "fused"),
    ("1D, 2^28, fused", "268435456", "fused"),
]


def summary(data, options):
    """The short table of the README."""
    rows = []
    for title, points, which in SUMMARY:
        row = [title]
        for precision in ("float", "double"):
            named = data.find(which, points, precision)
            found = named or best(data, points, precision, 1, which == "fused")
            share = found["fraction_of_copy"]
            row.append(f"{shown(found['gcells'])} ({share:.{1 if share > 9.95 else 2}f})")
        rows.append(row)
    return markdown(["case", "float", "double"], rows)


def ladder(data, options):
    """The prediction of the model, the measured rate, and the gain over `basic`."""
    dims, points, radius = int(options["dims"]), options["points"], int(options.get("radius", 1))
    rows = []
    for kernel in data.names([(points, precision, radius) for precision in ("float", "double")]):
        row = [f"`{kernel}`"]
        for precision in ("float", "double"):
            found, first = (data.find(k, points, precision, radius) for k in (kernel, "basic"))
            predicted = model.predict(dims, kernel, precision, radius)
            row.append(f"{shown(predicted[0])}, {predicted[1]}" if predicted else "–")
            row.append(shown(found["gcells"]) if found else "–")
            row.append(f"{100 * found['gcells'] / predicted[0]:.0f} %" if predicted and found else "–")
            row.append(f"{found['gcells'] / first['gcells']:.2f}" if found and first else "–")
        rows.append(row)
    head = ["rung"]
    for precision in ("float", "double"):
        head += [f"{precision}: predicted at most, by", "measured", "of it", "x `basic`"]
    return markdown(head, rows)


def words(data, options):
    """The counts from which the predictions are made."""
    case, rows = (int(options["dims"]), int(options.get("radius", 1))), []
    measured = {row["kernel"] for row in data.rows.values()}
    for *at, kernel in model.MODELS:
        if tuple(at) != case or kernel not in measured:
            continue
        for precision in ("float", "double"):
            c = model.cost(case[0], kernel, precision, case[1])
            rows.append([f"`{kernel}`" if precision == "float" else "", precision, f"{c.memory:.2f}", f"{c.l2:.2f}",
                         f"{c.pipe:.3f}", f"{c.fma:.1f}", f"1/{1 / c.barriers:.0f}" if c.barriers else "0",
                         f"{c.under_way:,}" if c.under_way else "enough"])
    return markdown(["rung", "", "words, memory", "words, L2", "clocks, L1 and shared", "multiply-adds", "barriers", "points under way"], rows)


def counters(data, options):
    """The hardware counters of a launch in the middle of a run."""
    rows = []
    wanted = [r for r in data.others["counters"] if r["precision"] == options["precision"]]
    order = {name: n for n, name in enumerate(LADDER)}
    for r in sorted(wanted, key=lambda r: order.get(r["kernel"], len(order))):
        value = {key: number(text) for key, text in r.items()}
        size = 4 if r["precision"] == "float" else 8
        waits = {name: value["stall_" + key] for key, name in STALLS.items() if value["stall_" + key] == value["stall_" + key]}
        longest = sorted(waits, key=waits.get, reverse=True)[:2]
        rows.append([
            f"`{r['kernel']}`",
            shown(value["gcells"]),
            f"{(value['dram_read'] + value['dram_written']) / size:.2f}",
            f"{(value['l2_read'] + value['l2_written']) / size:.2f}",
            f"{value['wavefronts']:.3f}",
            f"{value['instructions']:.0f}",
            shown(model.issue(value["instructions"])),
            f"{value['dram_share']:.0f} %",
            f"{value['l2_share']:.0f} %",
            f"{value['l1_share']:.0f} %",
            f"{value['issue_share']:.0f} %",
            f"{value['warps_share']:.0f} %",
            ", ".join(f"{name} {waits[name]:.1f}" for name in longest),
        ])
    head = ["kernel", "GCell/s", "words, memory", "words, L2", "wavefronts", "instructions", "these allow", "memory", "L2", "L1 and shared",
            "issue", "warps", "waiting for"]
    return markdown(head, rows)


STALLS = {
    "memory": "memory", "barrier": "barriers", "shared": "shared memory", "mio": "the pipe to it", "lsu": "the load queue",
    "fixed": "fixed latencies", "math": "arithmetic",
}


def runs(data, options):
    """Whole runs: kernel, GCell/s, and the fraction of the kernel's own rate in bench."""
    found = {(r["walls"], r["source"], r["precision"]): r for r in data.others["runs"]}
    precisions = ("float", "double")
    rows = []
    for walls, source in dict.fromkeys((r["walls"], r["source"]) for r in data.others["runs"]):
        row = [walls, f"`{source}`" if source else "none"]
        for precision in precisions:
            r = found.get((walls, source, precision))
            bench = r and data.find(r["kernel"], r["points"], precision)
            share = f", {number(r['gcells']) / bench['gcells']:.2f} of bench" if bench else ""
            row.append(f"{shown(number(r['gcells']))} (`{r['kernel']}`{share})" if r else "–")
        rows.append(row)
    return markdown(["walls", "source", *precisions], rows)


def auto(data, options):
    """The cases where `auto` does not take the fastest kernel; the others share one row."""
    rows, rest = [], 0
    for r in sorted(data.others["auto"], key=lambda r: number(r["ratio"])):
        if number(r["ratio"]) >= 0.98:
            rest += 1
        else:
            rows.append([r["case"], f"`{r['heuristic']}`", f"`{r['best']}`", f"{number(r['ratio']):.2f}"])
    rows.append([f"the other {rest}" if rows else f"all {rest}", "the fastest, or within 0.02 of it", "", "0.98 to 1"])
    return markdown(["case", "`auto` takes", "the fastest", "ratio"], rows)


def sanitize(data, options):
    """The results of compute-sanitizer, tool by tool."""
    rows = []
    for tool in dict.fromkeys(r["tool"] for r in data.others["sanitize"]):
        of = [r for r in data.others["sanitize"] if r["tool"] == tool]
        cases = sum(int(r["cases"] or 0) for r in of)
        errors = str(sum(int(r["errors"]) for r in of)) if all(r["errors"] for r in of) else "not told"
        longest = {}  # time of the longest of the parallel processes, by program
        for r in of:
            longest[r["program"]] = max(longest.get(r["program"], 0), number(r["seconds"]))
        rows.append([tool, str(cases), errors, f"{sum(longest.values()):.0f}"])
    return markdown(["tool", "cases, each the CPU's bits", "errors", "s"], rows)


def measured(data, options):
    """Device and commit of the GPU's rows, and which of the requested grids are from another commit."""
    commits = {}
    for r in data.rows.values():
        if r["device"] == "cuda" and r["kind"] == "kernel":
            commits.setdefault(r["commit"], []).append(r)
    newest, *older = sorted(commits, key=lambda commit: -len(commits[commit]))
    text = [f"{commits[newest][0]['device_name']}, commit {newest}."]
    for commit in older:
        cases = {}
        for r in commits[commit]:
            if r["points"] in options.get("points", "").split(","):
                cases.setdefault(f"{grid_name(r['points'])} {r['precision']}", []).append(f"`{r['kernel']}`")
        if cases:
            listed = "; ".join(f"{case}: {', '.join(names)}" for case, names in cases.items())
            text.append(f"Of commit {commit}: {listed}.")
    return "\n".join(text)


def answers(data, options):
    """The methods and peers of a case, with each number of steps."""
    rows = [r for r in data.others["answers"] if r["case"] == options["case"] and r["points"].startswith(options["points"])]
    measure = rows[0]["measure"]
    table = []
    for r in rows:
        name = f"`{r['name']}`" if r["kind"] == "method" else f"{r['name']} ({r['version']})"
        times = [f"{float(r[f'seconds_{which}']):.3g}" for which in ("median", "min", "max")]
        table.append([name, f"{int(r['steps']):,}", f"{float(r['value']):.1e}", times[0], f"{times[1]} to {times[2]}"])
    return markdown(["", "steps" if measure == "error" else "iterations", measure, "seconds", "least to most"], table)


MAKERS = {
    f.__name__: f
    for f in (rates, seed, elsewhere, gains, summary, ladder, words, counters, runs, auto, sanitize, answers, measured)
}


# ---- pages ---------------------------------------------------------------------------------------


def made(page):
    text = page.read_text()
    named = re.search(r"<!-- data: (.*?) -->", text)
    data = Data([page.parent / name for name in named.group(1).split()] if named else [])
    for kind, names in re.findall(rf"<!-- ({'|'.join(OTHERS)}): (.*?) -->", text):
        for name in names.split():
            with open(page.parent / name) as file:
                data.others[kind] += [r for r in csv.DictReader(file) if r.get("kernel") != "kernel"]

    def replace(match):
        name, *words_ = match.group(1).split()
        table = MAKERS[name](data, dict(word.split("=", 1) for word in words_))
        return f"<!-- make: {match.group(1)} -->\n{table}\n<!-- end -->"

    return text, re.sub(r"<!-- make: (.*?) -->\n.*?<!-- end -->", replace, text, flags=re.S)


# The files that tests/gpu/run leaves, and the ending of their names in docs/benchmarks/.
TAKEN = {"bench": "", "peers": "-peers", "counters": "-counters", "runs": "-runs", "auto": "-auto", "sanitize": "-sanitize"}


def take(directory, device="h200"):
    """Copies the tables that are there into docs/benchmarks/."""
    for name, ending in TAKEN.items():
        source = pathlib.Path(directory) / f"{name}.csv"
        if source.is_file() and len(source.read_text().splitlines()) > 1:
            shutil.copyfile(source, DOCS / "benchmarks" / f"{device}{ending}.csv")
            print(f"taken: {name}.csv")


def main():
    arguments = sys.argv[1:]
    check, stale = "--check" in arguments, []
    if "--take" in arguments:
        take(*arguments[arguments.index("--take") + 1 :])
    for page in PAGES:
        before, after = made(page)
        if before != after:
            stale.append(str(page.relative_to(DOCS.parent)))
            if not check:
                page.write_text(after)
    print(("out of date: " if check else "rewritten: ") + ", ".join(stale) if stale else "up to date")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
