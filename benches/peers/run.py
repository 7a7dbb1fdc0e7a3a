#!/usr/bin/env python3
"""Compares windrow with other tools on the same files: answers first, then time and memory.

Needs Python 3.9 and a Rust toolchain; the peers are installed into a virtual environment below target/peers.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import re
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

import measure
import prepare
import report

TEN = """count(*) AS n, sum(amount) AS total, avg(amount) AS mean, min(amount) AS least, max(amount) AS most,
    stddev(amount) AS spread, count(DISTINCT status) AS statuses, max(status) AS worst, bool_or(status = 404) AS missing,
    count(*) FILTER (WHERE event_type = 'click') AS clicks"""

JOIN = ["--on", "imp_id", "--within", "0s..30m", "--left-time", "imp_time", "--right-time", "click_time"]
PAIR = "r.click_id, l.imp_id, r.click_time, l.imp_time, l.campaign, r.amount"
WINDOW = ["window", "-t", "event_time"]
DEDUP = ["--by", "trace_id", "--within", "10m", "-t", "event_time"]

# Unless said otherwise: a window command over the events, its answer as CSV.
WORKS = {
    "w1": {
        "doc": "tumbling windows of 1 minute by page: count, sum",
        "flags": ["--tumbling", "1m", "-g", "page_id", "-a", "count(*) AS n, sum(amount) AS total"],
    },
    "w2": {
        "doc": "sliding windows of 10 minutes, one every minute, by page: count",
        "flags": ["--sliding", "10m/1m", "-g", "page_id", "-a", "count(*) AS n"],
    },
    "w3": {
        "doc": "sessions with a gap of 30 minutes by user: last event, count",
        "flags": ["--session", "30m", "-g", "user_id", "-a", "max(event_time) AS last_event, count(*) AS n"],
    },
    "w4": {
        "doc": "tumbling windows of 5 minutes by page: count, 95th percentile",
        "flags": ["--tumbling", "5m", "-g", "page_id", "-a", "count(*) AS n, p95(amount) AS p"],
    },
    "w5": {
        "doc": "tumbling windows of 5 minutes by page: count, different users",
        "flags": ["--tumbling", "5m", "-g", "page_id", "-a", "count(*) AS n, count(DISTINCT user_id) AS users"],
    },
    "w6": {
        "doc": "tumbling windows of 1 minute: a condition, a computed key, ten aggregates",
        "flags": ["--tumbling", "1m", "--where", "status < 500 AND amount > 0", "-g", "upper(page_id) AS page", "-a", TEN],
    },
    "w7": {
        "doc": "clicks joined to the impression they have the id of, at most 30 minutes after it",
        "tables": ["impressions", "clicks"],
        "head": ["join", *JOIN],
        "flags": ["--select", PAIR],
    },
    "w8": {
        "doc": "events delivered again within 10 minutes left out, by id: whole events, written as JSONL",
        "tables": ["deliveries"],
        "head": ["dedup", *DEDUP],
        "flags": [],
        "answer": "jsonl",
    },
    "w9": {
        "doc": "the same of records of three fields, written as CSV",
        "tables": ["narrow"],
        "head": ["dedup", *DEDUP],
        "flags": [],
    },
}
FORMATS = ["jsonl", "csv", "parquet"]
PEERS = ["duckdb", "polars"]
# Zeros that say nothing: the second of 9.00, that of 5.70, those of 00:02:00.000Z.
ZEROS = re.compile(rb"(\.\d)0\b|\.000(?=Z)")
TINY_ROWS = 10
TINY_ROUNDS = 15
MEMORY_ROWS = [1_000_000, 10_000_000]


class Bench:
    """What all steps share: the programs, the folders and the number of threads."""

    def __init__(self, options):
        self.windrow = prepare.binary(options.windrow)
        self.python = prepare.python()
        self.data = Path(options.data).resolve()
        self.answers = prepare.fresh_folder("answers")
        self.threads = str(options.threads)
        self.peers = options.peers

    def windrow_command(self, work: str, files: list[Path], out: Path) -> list[str]:
        """The job as a windrow command. The delay is the generator's greatest, so no event is late."""
        job = WORKS[work]
        head = [str(self.windrow), *job.get("head", WINDOW), *map(str, files), *job["flags"], "-d", "60s"]
        return [*head, "-O", answer_format(work), "-o", str(out), "-j", self.threads, "-q"]

    def peer_command(self, peer: str, work: str, files: list[Path], out: Path) -> list[str]:
        """The same job by a peer."""
        script = prepare.HERE / f"peer_{peer}.py"
        return [str(self.python), str(script), work, files[0].suffix[1:], *map(str, files), str(out), self.threads]

    def answer(self, tool: str, work: str, files: list[Path]) -> Path:
        """Where a tool's answer goes."""
        name = f"{work}-{files[0].stem}-{files[0].suffix[1:]}-{tool}.{answer_format(work)}"
        return self.answers / name

    def commands(self, work: str, files: list[Path]) -> dict[str, list[str]]:
        """The job for each tool, windrow first."""
        jobs = {report.WINDROW: self.windrow_command(work, files, self.answer(report.WINDROW, work, files))}
        for peer in self.peers:
            jobs[peer] = self.peer_command(peer, work, files, self.answer(peer, work, files))
        return jobs

    def compare(self, work: str, files: list[Path]) -> dict[str, dict]:
        """Each peer's answer against windrow's."""
        found = {}
        for peer in self.peers:
            answers = [self.answer(tool, work, files) for tool in (report.WINDROW, peer)]
            found[peer] = json.loads(output_of(self.python, prepare.HERE / "agree.py", work, *answers))
        return found

    def clear(self, work: str, files: list[Path]):
        """Removes the answers: those of all jobs together would take tens of gigabytes."""
        for tool in (report.WINDROW, *self.peers):
            self.answer(tool, work, files).unlink()


def inputs(folder: Path, work: str, rows: int, file_format: str) -> list[Path]:
    """The files of a job, for so many events."""
    return [prepare.file_of(folder, table, prepare.records(table, rows), file_format) for table in tables_of([work])]


def tables_of(works: list[str]) -> list[str]:
    """What has to exist as files, in the order of the works, each once."""
    return list(dict.fromkeys(table for work in works for table in WORKS[work].get("tables", ["events"])))


def answer_format(work: str) -> str:
    """What all tools write."""
    return WORKS[work].get("answer", "csv")


def digest(file: Path) -> str:
    """Tells answers of different bytes apart, but for zeros: 9.00 is passed on as it was read."""
    made = hashlib.sha256()
    with file.open("rb") as stream:
        while lines := stream.readlines(1 << 20):
            made.update(ZEROS.sub(rb"\1", b"".join(lines)))
    return made.hexdigest()


def listed(known):
    """An argparse type: names out of the known ones, separated by commas."""

    def parse(text: str) -> list[str]:
        names = [name.strip() for name in text.split(",") if name.strip()]
        if not names or not set(names) <= set(known):
            raise argparse.ArgumentTypeError(f"expected some of {','.join(known)}, found {text!r}")
        return names

    return parse


def positive(text: str) -> int:
    """An argparse type: a whole number from 1."""
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"expected a number from 1, found {text!r}")
    return int(text)


def parse_options():
    """What was typed."""
    works = "; ".join(f"{name}: {work['doc']}" for name, work in WORKS.items())
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], epilog=f"Works: {works}.")
    data = os.environ.get("BENCH_DATA", str(prepare.WORKSHOP / "data"))
    add = parser.add_argument
    add("--rows", type=positive, default=1_000_000, help="events: 1000000 (the default) or 10000000")
    add("--runs", type=positive, default=3, help="timed runs of each command (default 3)")
    add("--work", type=listed(WORKS), default=list(WORKS), metavar="LIST", help="default all")
    add("--formats", type=listed(FORMATS), default=FORMATS, metavar="LIST", help=f"default {','.join(FORMATS)}")
    add("--peers", type=listed(PEERS), default=PEERS, metavar="LIST", help=f"default {','.join(PEERS)}")
    add("--windrow", metavar="PATH", help="default target/release/windrow, built if missing")
    add("--threads", type=positive, default=2, help="threads of each tool (default 2)")
    add("--data", metavar="DIR", default=data, help="the data's folder (default $BENCH_DATA or target/peers/data)")
    add("--json", metavar="FILE", help="also write every single run to this file")
    return parser.parse_args()


def output_of(*command) -> str:
    """What a command prints. A failing one ends the comparison; its own words are on stderr already."""
    command = [str(part) for part in command]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise SystemExit(f"run.py: exit code {done.returncode} from: {' '.join(command)}")
    return done.stdout.strip()


def processor() -> str:
    """The model, where the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.machine()


def describe(bench: Bench, options) -> dict:
    """The conditions: a figure without them says nothing."""
    built = time.strftime("%Y-%m-%d %H:%M", time.localtime(bench.windrow.stat().st_mtime))
    versions = {report.WINDROW: f"{output_of(bench.windrow, '--version').split()[-1]} (built {built})"}
    for peer in options.peers:
        versions[peer] = output_of(bench.python, "-c", f"import {peer}; print({peer}.__version__)")
    machine = f"{processor()}, {os.cpu_count()} CPUs, {platform.system()} {platform.machine()}"
    shared = {"rows": options.rows, "threads": options.threads, "runs": options.runs}
    return {"machine": machine, "versions": versions, **shared}


def print_conditions(conditions: dict):
    """The head of the output."""
    print(f"machine: {conditions['machine']}")
    print("tools: " + ", ".join(f"{tool} {version}" for tool, version in conditions["versions"].items()))
    print("{rows:,} events, {threads} threads, {runs} runs in turn after a warm-up".format(**conditions))


def check_answers(bench: Bench, options) -> list[dict]:
    """The warm-up: every command once, and what it answered against windrow's answer."""
    print("\nAnswers\n")
    results = []
    for work in options.work:
        for file_format in options.formats:
            files = inputs(bench.data, work, options.rows, file_format)
            measure.in_turn(bench.commands(work, files), 1)
            found = bench.compare(work, files)
            same = digest(bench.answer(report.WINDROW, work, files))
            bench.clear(work, files)
            results.append({"work": work, "format": file_format, "answers": found, "sha256": same})
            for peer, of_peer in found.items():
                print(report.agreement(work, file_format, peer, of_peer), flush=True)
    return results


def same_bytes(options, results: list[dict]) -> bool:
    """Whether windrow's answer is the same file whatever the input's format."""
    same = True
    for work in options.work:
        digests = {result["sha256"] for result in results if result["work"] == work}
        if len(options.formats) > 1:
            verdict = "the same" if len(digests) == 1 else "DIFFERENT"
            print(f"{work}  windrow writes {verdict} bytes from {', '.join(options.formats)}")
        same = same and len(digests) == 1
    return same


def time_works(bench: Bench, options, results: list[dict]):
    """Adds the timed runs to each result."""
    for result in results:
        prepare.say(f"timing {result['work']} {result['format']}")
        files = inputs(bench.data, result["work"], options.rows, result["format"])
        result["runs"] = measure.in_turn(bench.commands(result["work"], files), options.runs)
        bench.clear(result["work"], files)
    print("\nTime (medians) and memory (greatest); a ratio is peer / windrow: median (least-greatest) of the rounds\n")
    print(report.works(results), flush=True)


def time_tiny(bench: Bench, options) -> dict:
    """From start to finish on ten lines."""
    folder = prepare.WORKSHOP / "data"
    work, file_format = options.work[0], options.formats[0]
    prepare.data(folder, tables_of([work]), TINY_ROWS, [file_format], bench.python)
    commands = bench.commands(work, inputs(folder, work, TINY_ROWS, file_format))
    measure.in_turn(commands, 1)
    runs = measure.in_turn(commands, TINY_ROUNDS)
    print(f"\nStart to finish on {TINY_ROWS} events, {work} {file_format}, {TINY_ROUNDS} runs in turn\n")
    print(report.short(runs), flush=True)
    return runs


def memory_by_size(bench: Bench, options) -> list[dict]:
    """windrow's peak at both sizes, for the formats that exist in both."""
    peaks = []
    for work in options.work:
        for file_format in options.formats:
            sizes = {prepare.size_name(n): inputs(bench.data, work, n, file_format) for n in MEMORY_ROWS}
            if all(file.exists() for files in sizes.values() for file in files):
                out = bench.answers / "memory"
                sizes = {s: measure.run(bench.windrow_command(work, f, out)).peak_mb for s, f in sizes.items()}
                out.unlink()
                peaks.append({"work": work, "format": file_format, **sizes})
    if peaks:
        print("\nPeak memory of windrow by size\n")
        print(report.memory(peaks, [prepare.size_name(n) for n in MEMORY_ROWS]))
    return peaks


def as_json(results, tiny, peaks, conditions) -> str:
    """Everything measured, run by run."""
    document = {**conditions, "works": results, "tiny": tiny, "memory": peaks, "memory_floor_mb": measure.floor_mb()}
    return json.dumps(document, default=asdict, indent=1) + "\n"


def main() -> int:
    """Prepare, check, time, print. 1 when answers differ."""
    options = parse_options()
    bench = Bench(options)
    prepare.data(bench.data, tables_of(options.work), options.rows, options.formats, bench.python)
    conditions = describe(bench, options)
    print_conditions(conditions)
    results = check_answers(bench, options)
    same = same_bytes(options, results)
    time_works(bench, options, results)
    tiny = time_tiny(bench, options)
    peaks = memory_by_size(bench, options)
    if options.json:
        Path(options.json).write_text(as_json(results, tiny, peaks, conditions))
    if not same or not all(found["agree"] for result in results for found in result["answers"].values()):
        print("\nANSWERS DIFFER", flush=True)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
