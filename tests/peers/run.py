"""Runs the peers, one after the other, for `heatsolve bench --peers`.

usage: run.py FOLDER SECONDS [NAME,...] <CASE

The peers are the scripts in FOLDER of $HEATSOLVE_PEERS, or by default of this script's folder; if names are given, only
these run. Each is a process of its own and may take SECONDS. CASE is what common.py reads: one option per line, an
empty line, then the file for --proof. If CASE is empty, the names are only looked up.

Prints a row for each peer, with tabs between the columns; times are seconds per sweep:

    NAME  timed   SAMPLES  MIN  MEDIAN  MAX  APART  VERSION  DEVICE  [STEPS]
    NAME  absent  WHY
    NAME  failed  WHY
    -     refused WHY     there are no peers, or none of that name; then this is the only row

A peer whose answers have `steps` may print several of them, one per line as soon as each is ready, each with a name of
its own. Each becomes a row; if the peer then says anything else or takes too long, that is one more row.
"""
import ctypes
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time

NO_PEERS = ("absent.py", "common.py", "run.py", "hypre_steady.py")
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)
STOPPED = []  # becomes non-empty when heatsolve has ended: it sends SIGTERM


class Refused(Exception):
    """There are no peers, or none of a name that was asked for."""


def find(folder, only):
    """The names of the folder's peers, or those of a comma-separated list."""
    files = os.listdir(folder) if os.path.isdir(folder) else []
    known = sorted(file[:-3] for file in files if file.endswith(".py") and file not in NO_PEERS)
    if not known:
        raise Refused(f"no scripts of peers in {folder}: name their folder in HEATSOLVE_PEERS")
    names = known if only is None else only.split(",")
    for name in names:
        if name not in known:
            raise Refused(f'no peer "{name}" in {folder}: there are {", ".join(known)}')
    return names


def number(answer, key):
    value = answer.get(key)
    return value if isinstance(value, (int, float)) else math.nan


def read_answer(line):
    """The columns after the name, from a peer's line of JSON."""
    try:
        answer = json.loads(line)
    except ValueError:
        return "failed", "its answer is no JSON"
    if "absent" in answer:
        return "absent", answer["absent"]
    if "error" in answer:
        return "failed", answer["error"]
    numbers = [number(answer, key) for key in ("samples", "seconds_min", "seconds", "seconds_max")]
    if not all(0 < n < math.inf for n in numbers):
        return "failed", "its answer has no time"
    software = [answer.get(key, "") for key in ("version", "device")]
    return "timed", *numbers, number(answer, "apart"), *software, *([answer["steps"]] if "steps" in answer else [])


def judge(output, complaints):
    """The columns from the last line of output that is a JSON object; else the last line of stderr as the error."""
    answers = [line for line in output.splitlines() if line.startswith("{")]
    if answers:
        return read_answer(answers[-1])
    said = [line for line in complaints.splitlines() if line.strip()]
    return "failed", said[-1] if said else "no answer"


def stepped(output):
    """The rows of the answers that have `steps`."""
    answers = [line for line in output.splitlines() if line.startswith("{") and '"steps"' in line]
    rows = [(json.loads(line).get("name"), *read_answer(line)) for line in answers]
    return [row for row in rows if row[1] == "timed"]


def run(name, command, seconds):
    """The rows of a peer. When it ends or its time is over, everything that it started is killed. Its output goes to
    files, not pipes: a process that it left behind could hold a pipe open."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as complaints:
        peer = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=complaints,
            env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1"),
            start_new_session=True,
            # the peer does not outlive this script, however the script ends
            preexec_fn=lambda: LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL),
        )
        limit = time.monotonic() + seconds
        try:
            while peer.poll() is None and time.monotonic() < limit and not STOPPED:
                time.sleep(0.02)
            slow = peer.poll() is None
        finally:
            try:
                os.killpg(peer.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass  # no process was left
            peer.wait()
        if STOPPED:
            sys.exit(1)
        output.seek(0)
        complaints.seek(0)
        texts = [file.read().decode(errors="replace") for file in (output, complaints)]
        rows = stepped(texts[0])
        last = ("failed", f"took longer than {seconds:g} s") if slow else judge(*texts)
        return rows if rows and last == rows[-1][1:] else rows + [(name, *last)]


def print_row(*columns):
    texts = ("".join(c if c.isprintable() else " " for c in str(column)) for column in columns)
    print(*(text[:250] for text in texts), sep="\t", flush=True)


def main(within, seconds, only=None):
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")
    signal.signal(signal.SIGTERM, lambda *_: STOPPED.append(True))
    folder = os.environ.get("HEATSOLVE_PEERS", os.path.dirname(os.path.abspath(__file__)))
    folder = os.path.normpath(os.path.join(folder, within))
    try:
        names = find(folder, only)
    except Refused as why:
        print_row("-", "refused", why)
        return
    options, _, proof = sys.stdin.buffer.read().partition(b"\n\n")
    if not options:
        return
    with tempfile.NamedTemporaryFile(prefix="heatsolve-peers-") as file:
        file.write(proof)
        file.flush()
        for name in names:
            if sys.stderr.isatty():  # a person waits, and a peer's compiler may take a minute
                print(f"bench: peer {name}", file=sys.stderr)
            script = os.path.join(folder, f"{name}.py")
            command = [sys.executable, script, *options.decode().split("\n"), f"--proof={file.name}"]
            for row in run(name, command, float(seconds)):
                print_row(*row)


if __name__ == "__main__":
    main(*sys.argv[1:])
