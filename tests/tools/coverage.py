"""usage: coverage.py BUILD [LEAST]

Shows the share of the lines of src/ and kernels/cpu/ that the tests ran, from the data that a build with --coverage
left in BUILD: a line per file, sorted so that the files with the most unexecuted lines come last, and the totals. Fails
if the total of src/ is below LEAST percent.
"""

import collections
import json
import pathlib
import subprocess
import sys


def executed_lines(build):
    """{source: {line: times run}}, added up over all objects that contain the source."""
    lines = collections.defaultdict(lambda: collections.defaultdict(int))
    notes = sorted(str(path.resolve()) for path in build.rglob("*.gcno"))
    for start in range(0, len(notes), 50):
        command = ["gcov", "--json-format", "--stdout", *notes[start : start + 50]]
        output = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        for report in output.stdout.splitlines():
            for source in json.loads(report)["files"]:
                for line in source["lines"]:
                    lines[source["file"]][line["line_number"]] += line["count"]
    return lines


def main():
    build = pathlib.Path(sys.argv[1])
    least = float(sys.argv[2]) if len(sys.argv) > 2 else 0.0
    totals = collections.defaultdict(lambda: [0, 0])
    rows = []
    for source, lines in executed_lines(build).items():
        folder = next((folder for folder in ("src/", "kernels/cpu/") if source.startswith(folder)), None)
        if folder:
            run = sum(1 for count in lines.values() if count)
            rows.append((len(lines) - run, source, run, len(lines)))
            for name in (folder, "/".join(source.split("/")[:2]) + "/"):
                totals[name][0] += run
                totals[name][1] += len(lines)
    for missed, source, run, count in sorted(rows):
        print(f"{100 * run / count:6.1f} %  {missed:5} of {count:5} lines not run  {source}")
    for name, (run, count) in sorted(totals.items()):
        print(f"{100 * run / count:6.1f} %  {run} of {count} lines run  {name}")
    run, count = totals["src/"]
    return 0 if count and 100 * run / count >= least else 1


if __name__ == "__main__":
    sys.exit(main())
