"""What a comparison needs before it can run: the binary, the peers in a virtual environment, and the data.

Each thing is made once and kept; it gets its name only when it is complete.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TARGET = ROOT / os.environ.get("CARGO_TARGET_DIR", "target")
WORKSHOP = TARGET / "peers"

# What one run of the generator makes. Deliveries are counted without those that come twice.
KINDS = {
    "events": ["events"],
    "join": ["impressions", "clicks"],
    "deliveries": ["deliveries"],
    "narrow": ["narrow"],
}
# One impression to so many events, one click to so many.
SHARE = {"impressions": 5, "clicks": 10}


def say(text):
    """Progress goes to stderr; stdout has the results alone."""
    print(text, file=sys.stderr, flush=True)


def call(*command, cwd=None):
    """Run a step of the preparation; the first that fails ends it."""
    command = [str(part) for part in command]
    if subprocess.run(command, cwd=cwd, stdout=sys.stderr).returncode != 0:
        raise SystemExit(f"run.py: this command failed: {' '.join(command)}")


def binary(given: str | None) -> Path:
    """The windrow to measure: the one given, else the release build, made if missing."""
    path = Path(given).resolve() if given else TARGET / "release" / "windrow"
    if not given and not path.exists():
        say("building windrow")
        call("cargo", "build", "--release", "--locked", cwd=ROOT)
    if not path.exists():
        raise SystemExit(f"run.py: {path}: no such program")
    return path


def python() -> Path:
    """The interpreter of a virtual environment that has the peers."""
    home = WORKSHOP / "venv"
    interpreter = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    wanted = (HERE / "requirements.txt").read_text()
    stamp = home / "installed.txt"
    if not (stamp.exists() and stamp.read_text() == wanted):
        say(f"installing the peers into {home}")
        venv.create(home, with_pip=True, clear=True)
        call(interpreter, "-m", "pip", "install", "--quiet", "-r", HERE / "requirements.txt")
        stamp.write_text(wanted)
    return interpreter


def size_name(rows: int) -> str:
    """1m, 10m; other numbers as they are."""
    return f"{rows // 1_000_000}m" if rows % 1_000_000 == 0 else str(rows)


def file_of(folder: Path, table: str, rows: int, file_format: str) -> Path:
    """Where so many records of that kind are kept in that format."""
    return folder / f"{table}_{size_name(rows)}.{file_format}"


def records(table: str, rows: int) -> int:
    """How many records of a kind go with so many events."""
    return max(rows // SHARE.get(table, 1), 1)


def data(folder: Path, tables: list[str], rows: int, formats: list[str], interpreter: Path):
    """Make the files that are missing."""
    folder.mkdir(parents=True, exist_ok=True)
    for kind, made in KINDS.items():
        wanted = [table for table in made if table in tables]
        if any(not source(folder, table, rows, name).exists() for table in wanted for name in formats):
            generate(folder, kind, rows, wanted)
    if "parquet" in formats:
        for table in tables:
            to_parquet(folder, table, rows, interpreter)


def source(folder: Path, table: str, rows: int, file_format: str) -> Path:
    """What the generator has to have made; Parquet is made from CSV."""
    file = file_of(folder, table, records(table, rows), file_format)
    return file.with_suffix(".csv") if file_format == "parquet" and not file.exists() else file


def generate(folder: Path, kind: str, rows: int, wanted: list[str]):
    """Both text formats; a file that is there already has the same bytes and is left alone."""
    say(f"generating {', '.join(wanted)} for {rows:,} events in {folder}")
    partials = {table: folder / f"partial-{os.getpid()}-{table}" for table in KINDS[kind]}
    counts = [records(table, rows) for table in KINDS[kind]] if kind == "join" else [rows]
    call(generator(), kind, *counts, *partials.values())
    for table, partial in partials.items():
        for name in ("jsonl", "csv"):
            made, final = partial.with_suffix(f".{name}"), file_of(folder, table, records(table, rows), name)
            if final.exists() or table not in wanted:
                made.unlink()
            else:
                made.replace(final)


def generator() -> Path:
    """The compiled generate.rs."""
    source = HERE / "generate.rs"
    program = WORKSHOP / "generate"
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        program.parent.mkdir(parents=True, exist_ok=True)
        call("rustc", "-O", "--edition", "2021", source, "-o", program)
    return program


def to_parquet(folder: Path, table: str, rows: int, interpreter: Path):
    """From CSV, in row groups of about a million rows, or an eighth of that for a small file; once."""
    final = file_of(folder, table, records(table, rows), "parquet")
    if final.exists():
        return
    partial = folder / f"partial-{os.getpid()}.parquet"
    group = 1_048_576 if records(table, rows) >= 10_000_000 else 131_072
    call(interpreter, HERE / "to_parquet.py", table, final.with_suffix(".csv"), partial, group)
    partial.replace(final)


def fresh_folder(name: str) -> Path:
    """An empty folder for answers."""
    folder = WORKSHOP / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder
