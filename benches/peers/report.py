"""Turns measurements into aligned text. Measures nothing."""

from __future__ import annotations

from statistics import median

import measure

WINDROW = "windrow"


def table(header: list[str], rows: list[list[str]]) -> str:
    """Columns as wide as their widest cell: names to the left, figures to the right."""
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    words = [all(not row[i][:1].isdigit() for row in rows) for i in range(len(header))]

    def line(cells):
        padded = [c.ljust(w) if left else c.rjust(w) for c, w, left in zip(cells, widths, words)]
        return "  ".join(padded).rstrip()

    return "\n".join([line(header), line(["-" * width for width in widths]), *map(line, rows)])


def megabytes(value: float) -> str:
    """A peak; below the floor only a bound is known."""
    floor = measure.floor_mb()
    return f"{value:.0f}" if value > floor * 1.02 else f"{floor:.0f} or less"


def spread(values: list[float]) -> str:
    """The median, and the least and greatest when there are several."""
    text = f"{median(values):.2f}x"
    return f"{text} ({min(values):.2f}-{max(values):.2f})" if len(values) > 1 else text


def works(results: list[dict]) -> str:
    """One line for each work, format and tool."""
    rows = []
    for result in results:
        ours = result["runs"][WINDROW]
        for tool, runs in result["runs"].items():
            figures = [f"{measure.middle(runs, 'wall'):.3f}", f"{measure.middle(runs, 'cpu'):.3f}"]
            figures.append(megabytes(max(run.peak_mb for run in runs)))
            if tool == WINDROW:
                figures += ["", ""]
            else:
                figures += [spread(measure.ratios(ours, runs, what)) for what in ("wall", "cpu")]
            rows.append([result["work"], result["format"], tool, *figures])
    return table(["work", "format", "tool", "wall s", "CPU s", "peak MB", "wall ratio", "CPU ratio"], rows)


def short(runs: dict[str, list[measure.Run]]) -> str:
    """Start to finish on a tiny file."""
    rows = []
    for tool, of_tool in runs.items():
        walls = [run.wall * 1000 for run in of_tool]
        figures = [f"{median(walls):.1f}", f"{min(walls):.1f}", f"{max(walls):.1f}"]
        rows.append([tool, *figures, megabytes(max(run.peak_mb for run in of_tool))])
    return table(["tool", "median ms", "least ms", "greatest ms", "peak MB"], rows)


def memory(peaks: list[dict], sizes: list[str]) -> str:
    """Peaks of windrow by size of input."""
    rows = [[peak["work"], peak["format"], *(megabytes(peak[size]) for size in sizes)] for peak in peaks]
    return table(["work", "format", *(f"{size} rows, MB" for size in sizes)], rows)


def agreement(work: str, file_format: str, peer: str, found: dict) -> str:
    """Agree, or what does not."""
    ours, theirs = found["rows"]
    head = f"{work}  {file_format:<7}  {peer:<7}  {ours:>9,} rows"
    if found["agree"]:
        return f"{head}  agree"
    counts = f"{theirs:,} rows of {peer}, {found['different']:,} rows without an equal"
    if any(found["repeated"]):
        counts += f", keys repeated: {found['repeated'][0]:,} and {found['repeated'][1]:,}"
    examples = [f"    {WINDROW}: {row_text(o)}\n    {peer}: {row_text(t)}" for o, t in found["examples"]]
    return "\n".join([f"{head}  DIFFER: {counts}", *examples])


def row_text(row: dict) -> str:
    """One row of an answer; all of it is null where that side has none."""
    return ", ".join(f"{name} {value}" for name, value in row.items() if value is not None) or "no such row"
