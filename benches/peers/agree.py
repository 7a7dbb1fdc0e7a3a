"""Whether two answers are the same set of rows: agree.py WORK OURS.csv THEIRS.csv.

Prints one JSON object: the rows of each, how many have no equal on the other side, and up to three of these. Sums may
differ by a hundredth after rounding, as the order of addition is the engine's own.
"""

import json
import sys

import duckdb

BY_PAGE = ["window_start", "page_id"]
KEYS = {"w3": ["user_id", "window_start"], "w6": ["window_start", "page"]}
EXACT = {"w3": ["last_event", "n"], "w5": ["n", "users"], "w6": ["n", "statuses", "worst", "missing", "clicks"]}
ROUNDED = {"w1": ["total"], "w4": ["p"], "w6": ["total", "mean", "least", "most", "spread"]}
DOUBLES = {name: "DOUBLE" for name in ["total", "p", "mean", "least", "most", "spread"]}
WHOLE = {name: "BIGINT" for name in ["n", "users", "statuses", "worst", "clicks"]}
TYPES = {"window_start": "TIMESTAMP", "last_event": "TIMESTAMP", **WHOLE, **DOUBLES}


def keys(work):
    """What tells the rows apart."""
    return KEYS.get(work, BY_PAGE)


def load(connection, table, work, file):
    """The columns that are compared, with their types; the file may have others, in any order."""
    names = keys(work) + EXACT.get(work, ["n"]) + ROUNDED.get(work, [])
    typed = ", ".join(f"CAST({name} AS {TYPES.get(name, 'VARCHAR')}) AS {name}" for name in names)
    file = file.replace("'", "''")
    connection.execute(f"CREATE TABLE {table} AS SELECT {typed} FROM read_csv('{file}', header=true, all_varchar=true)")
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
    # A missing side has no n, so it differs there.
    differ += [f"coalesce(abs(round(o.{name}, 2) - round(t.{name}, 2)) > 0.010001, (o.{name} IS NULL) <> (t.{name} IS NULL))" for name in ROUNDED.get(work, [])]
    query = f"SELECT o AS ours, t AS theirs FROM ours o FULL JOIN theirs t ON {on} WHERE {' OR '.join(differ)}"
    connection.execute(f"CREATE TABLE differences AS {query}")
    count = connection.execute("SELECT count(*) FROM differences").fetchone()[0]
    return count, connection.execute("SELECT ours, theirs FROM differences LIMIT 3").fetchall()


def main():
    """Compare and print."""
    work, ours, theirs = sys.argv[1:]
    connection = duckdb.connect()
    rows = [load(connection, "ours", work, ours), load(connection, "theirs", work, theirs)]
    doubles = [repeated(connection, "ours", work), repeated(connection, "theirs", work)]
    different, examples = differences(connection, work)
    agree = rows[0] == rows[1] and rows[0] > 0 and doubles == [0, 0] and different == 0
    result = {"agree": agree, "rows": rows, "repeated": doubles, "different": different, "examples": examples}
    print(json.dumps(result, default=str))


main()
