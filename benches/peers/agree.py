"""Whether two answers are the same set of rows: agree.py WORK OURS THEIRS; both .csv or both .jsonl.

Prints one JSON object: the rows of each, how many have no equal on the other side, and up to three of these. Sums may
differ by a hundredth after rounding, as the order of addition is the engine's own.
"""

import json
import sys

import duckdb

BY_PAGE = ["window_start", "page_id"]
KEYS = {
    "w3": ["user_id", "window_start"],
    "w6": ["window_start", "page"],
    "w7": ["click_id"],
    "w8": ["trace_id"],
    "w9": ["trace_id"],
}
EXACT = {
    "w3": ["last_event", "n"],
    "w5": ["n", "users"],
    "w6": ["n", "statuses", "worst", "missing", "clicks"],
    "w7": ["imp_id", "click_time", "imp_time", "campaign", "amount"],
    "w8": ["event_time", "user_id", "page_id", "event_type", "amount", "status", "user_agent"],
    "w9": ["event_time", "amount"],
}
ROUNDED = {"w1": ["total"], "w4": ["p"], "w6": ["total", "mean", "least", "most", "spread"]}
DOUBLES = {name: "DOUBLE" for name in ["total", "p", "mean", "least", "most", "spread", "amount"]}
WHOLE = {name: "BIGINT" for name in ["n", "users", "statuses", "worst", "clicks", "status"]}
TIMES = {name: "TIMESTAMP" for name in ["window_start", "last_event", "event_time", "click_time", "imp_time"]}
TYPES = {**TIMES, **WHOLE, **DOUBLES}


def keys(work):
    """What tells the rows apart."""
    return KEYS.get(work, BY_PAGE)


def rows_of(file, names):
    """The table expression that reads an answer, all of it as text."""
    quoted = file.replace("'", "''")
    if file.endswith(".jsonl"):
        columns = ", ".join(f"{name}: 'VARCHAR'" for name in names)
        return f"read_json('{quoted}', format='newline_delimited', columns={{{columns}}})"
    return f"read_csv('{quoted}', header=true, all_varchar=true)"


def load(connection, table, work, file):
    """The columns that are compared, with their types; the file may have others, in any order."""
    names = keys(work) + EXACT.get(work, ["n"]) + ROUNDED.get(work, [])
    typed = ", ".join(f"CAST({name} AS {TYPES.get(name, 'VARCHAR')}) AS {name}" for name in names)
    connection.execute(f"CREATE TABLE {table} AS SELECT {typed} FROM {rows_of(file, names)}")
    return connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]


def repeated(connection, table, work):
    """How many rows have the key of another row."""
    names = ", ".join(keys(work))
    query = f"SELECT coalesce(sum(c - 1), 0) FROM (SELECT count(*) AS c FROM {table} GROUP BY {names})"
    return int(connection.execute(query).fetchone()[0])


def differences(connection, work):
    """The joined rows that are on one side only, or whose values differ."""
    on = " AND ".join(f"o.{name} IS NOT DISTINCT FROM t.{name}" for name in keys(work))
    differ = [f"o.{name} IS DISTINCT FROM t.{name}" for name in EXACT.get(work, ["n"])]
    # A missing side has none of the values, so it differs there.
    differ += [f"coalesce(abs(round(o.{name}, 2) - round(t.{name}, 2)) > 0.010001, (o.{name} IS NULL) <> (t.{name} IS NULL))" for name in ROUNDED.get(work, [])]
    query = f"SELECT o AS ours, t AS theirs FROM ours o FULL JOIN theirs t ON {on} WHERE {' OR '.join(differ)}"
    connection.execute(f"CREATE TABLE differences AS {query}")
    count = connection.execute("SELECT count(*) FROM differences").fetchone()[0]
    return count, connection.execute("SELECT ours, theirs FROM differences LIMIT 3").fetchall()


def main():
    """Compare and print."""
    work, ours, theirs = sys.argv[1:]
    connection = duckdb.connect(config={"temp_directory": ours + ".spill"})
    rows = [load(connection, "ours", work, ours), load(connection, "theirs", work, theirs)]
    doubles = [repeated(connection, "ours", work), repeated(connection, "theirs", work)]
    different, examples = differences(connection, work)
    agree = rows[0] == rows[1] and rows[0] > 0 and doubles == [0, 0] and different == 0
    result = {"agree": agree, "rows": rows, "repeated": doubles, "different": different, "examples": examples}
    print(json.dumps(result, default=str))


main()
