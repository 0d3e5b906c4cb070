"""Runs the peers, one after the other, for `heatsolve bench --peers`.

usage: run.py FOLDER SECONDS [NAME,...] <CASE

The peers are the scripts of that folder of $HEATSOLVE_PEERS, else of the one of this script; with names only those.
Each is a process of its own, which may take so many seconds. CASE is what common.py reads: options,
a line each, then an empty line, then the file for --proof. An empty one: names are only looked up.

Prints a row for each, with tabs between its columns; times are seconds of one sweep:

    NAME  timed   SAMPLES  MIN  MEDIAN  MAX  APART  VERSION  DEVICE  [STEPS]
    NAME  absent  WHY
    NAME  failed  WHY
    -     refused WHY     there are no peers, or none of that name; the only row then

A peer whose answers say `steps` may give several, a line each, as soon as it has them, with names of their own: each
becomes a row, and what it says besides, or that it took too long, one more.
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
STOPPED = []  # not empty once heatsolve has ended, which sends SIGTERM


class Refused(Exception):
    """The peers that were asked for are not there."""


def find(folder, only):
    """The names of the folder's peers, or those of a list with commas."""
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
    """The columns behind the name, from a peer's line of JSON."""
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
    """From its last line that is an object, else of a traceback the last line, the error."""
    answers = [line for line in output.splitlines() if line.startswith("{")]
    if answers:
        return read_answer(answers[-1])
    said = [line for line in complaints.splitlines() if line.strip()]
    return "failed", said[-1] if said else "no answer"


def stepped(output):
    """The rows of answers that say steps."""
    answers = [line for line in output.splitlines() if line.startswith("{") and '"steps"' in line]
    rows = [(json.loads(line).get("name"), *read_answer(line)) for line in answers]
    return [row for row in rows if row[1] == "timed"]


def run(name, command, seconds):
    """Its rows. Until it ends or the time is over, and with it all that it started. Its output goes to
    files: what it left behind may hold that open, and nobody waits for it."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as complaints:
        peer = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=complaints,
            env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1"),
            start_new_session=True,
            # nor does it outlive this script, however that ends
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
                pass  # it left nothing behind
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
            if sys.stderr.isatty():  # somebody waits: a compiler among them may take a minute
                print(f"bench: peer {name}", file=sys.stderr)
            script = os.path.join(folder, f"{name}.py")
            command = [sys.executable, script, *options.decode().split("\n"), f"--proof={file.name}"]
            for row in run(name, command, float(seconds)):
                print_row(*row)


if __name__ == "__main__":
    main(*sys.argv[1:])
