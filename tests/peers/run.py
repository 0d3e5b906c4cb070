"""Runs the peers, one after the other, for `heatsolve bench --peers`.

usage: run.py SECONDS [NAME,...] <CASE

The peers are the scripts of $HEATSOLVE_PEERS, else those beside this one; with names only those.
Each is a process of its own, which may take so many seconds. CASE is what common.py reads: options,
a line each, then an empty line, then the file for --proof. An empty one: names are only looked up.

Prints a row for each, with tabs between its columns; times are seconds of one sweep:

    NAME  timed   SAMPLES  MIN  MEDIAN  MAX  APART  VERSION  DEVICE
    NAME  absent  WHY
    NAME  failed  WHY
    -     refused WHY     there are no peers, or none of that name; the only row then
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

NO_PEERS = ("common.py", "run.py")
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
    return "timed", *numbers, number(answer, "apart"), *software


def judge(output, complaints):
    """From its last line that is an object, else of a traceback the last line, the error."""
    answers = [line for line in output.splitlines() if line.startswith("{")]
    if answers:
        return read_answer(answers[-1])
    said = [line for line in complaints.splitlines() if line.strip()]
    return "failed", said[-1] if said else "no answer"


def run(command, seconds):
    """Until it ends or the time is over, and with it all that it started. Its output goes to files:
    what it left behind may hold that open, and nobody waits for it."""
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
        if slow:
            return "failed", f"took longer than {seconds:g} s"
        output.seek(0)
        complaints.seek(0)
        return judge(*(file.read().decode(errors="replace") for file in (output, complaints)))


def print_row(*columns):
    texts = ("".join(c if c.isprintable() else " " for c in str(column)) for column in columns)
    print(*(text[:250] for text in texts), sep="\t", flush=True)


def main(seconds, only=None):
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")
    signal.signal(signal.SIGTERM, lambda *_: STOPPED.append(True))
    folder = os.environ.get("HEATSOLVE_PEERS", os.path.dirname(os.path.abspath(__file__)))
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
            print_row(name, *run(command, float(seconds)))


if __name__ == "__main__":
    main(*sys.argv[1:])
