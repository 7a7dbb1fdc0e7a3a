"""Runs commands one at a time and says what each took. Knows nothing of what they do."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from statistics import median

# ru_maxrss is in bytes on macOS and in KiB elsewhere.
MAXRSS_UNITS_PER_MB = 1e6 if sys.platform == "darwin" else 1e6 / 1024


@dataclass
class Run:
    """One process: wall and CPU (user and system) seconds, greatest resident memory in MB."""

    wall: float
    cpu: float
    peak_mb: float


def run(command: list[str]) -> Run:
    """Start to end of one process. A failing one ends the comparison, with what it said."""
    with tempfile.TemporaryFile() as said:
        start = time.perf_counter()
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        _, status, used = os.wait4(child.pid, 0)
        wall = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            said.seek(0)
            text = said.read().decode(errors="replace")
            raise SystemExit(f"run.py: exit code {child.returncode} from: {' '.join(command)}\n{text}")
    return Run(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / MAXRSS_UNITS_PER_MB)


def in_turn(commands: dict[str, list[str]], rounds: int) -> dict[str, list[Run]]:
    """A B A B ..., so that what else the machine does falls on all alike."""
    runs: dict[str, list[Run]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            runs[name].append(run(command))
    return runs


def floor_mb() -> float:
    """No child is seen below this: a process starts with the peak of the one it was forked from."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / MAXRSS_UNITS_PER_MB


def middle(runs: list[Run], what: str) -> float:
    """The median of one of the measures."""
    return median(getattr(run, what) for run in runs)


def ratios(ours: list[Run], theirs: list[Run], what: str) -> list[float]:
    """Theirs to ours, round by round."""
    # CPU time comes in ticks on some systems, so a very short run may have none.
    return [getattr(t, what) / max(getattr(o, what), 1e-6) for o, t in zip(ours, theirs)]
