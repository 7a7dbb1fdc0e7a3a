"""One job by DuckDB: peer_duckdb.py WORK FORMAT FILE... OUT THREADS; OUT ends in .csv or .jsonl.

As its documentation advises: an explicit schema, the needed columns only, insertion order not kept. Times stored with
a zone are read as plain timestamps: as stored they go through ICU and take about twice as long.
"""

import sys

import duckdb

EVENT = {
    "event_time": "TIMESTAMP",
    "user_id": "VARCHAR",
    "page_id": "VARCHAR",
    "event_type": "VARCHAR",
    "amount": "DOUBLE",
    "status": "INTEGER",
    "trace_id": "VARCHAR",
    "user_agent": "VARCHAR",
}
NARROW = {name: EVENT[name] for name in ["event_time", "trace_id", "amount"]}
IMPRESSION = {
    "imp_id": "VARCHAR",
    "imp_time": "TIMESTAMP",
    "user_id": "VARCHAR",
    "page_id": "VARCHAR",
    "campaign": "VARCHAR",
    "price": "DOUBLE",
}
CLICK = {"click_id": "VARCHAR", "imp_id": "VARCHAR", "click_time": "TIMESTAMP", "amount": "DOUBLE"}
TABLES = {
    "w7": {"impressions": IMPRESSION, "clicks": CLICK},
    "w8": {"deliveries": EVENT},
    "w9": {"deliveries": NARROW},
}

COLUMNS = {
    "w1": ["event_time", "page_id", "amount"],
    "w2": ["event_time", "page_id"],
    "w3": ["event_time", "user_id"],
    "w4": ["event_time", "page_id", "amount"],
    "w5": ["event_time", "page_id", "user_id"],
    "w6": ["event_time", "page_id", "amount", "status", "event_type"],
    "w7": ["imp_id", "imp_time", "campaign", "click_id", "click_time", "amount"],
    "w8": list(EVENT),
    "w9": list(NARROW),
}

QUERIES = {
    "w1": """
        SELECT date_trunc('minute', event_time) AS window_start, page_id, count(*) AS n, round(sum(amount), 2) AS total
        FROM {events} GROUP BY ALL""",
    # Counts per minute first, then each of them into its ten windows: much faster than each event into ten.
    "w2": """
        WITH panes AS (
            SELECT date_trunc('minute', event_time) AS minute, page_id, count(*) AS c FROM {events} GROUP BY ALL)
        SELECT minute - INTERVAL (i) MINUTE AS window_start, page_id, sum(c)::BIGINT AS n
        FROM panes, range(10) AS t(i) GROUP BY ALL""",
    "w3": """
        WITH starts AS (
            SELECT user_id, event_time,
                CASE WHEN event_time - lag(event_time) OVER u > INTERVAL 30 MINUTE THEN 1 ELSE 0 END AS starts
            FROM {events} WINDOW u AS (PARTITION BY user_id ORDER BY event_time)),
        numbered AS (
            SELECT user_id, event_time,
                sum(starts) OVER (PARTITION BY user_id ORDER BY event_time ROWS UNBOUNDED PRECEDING) AS session
            FROM starts)
        SELECT min(event_time) AS window_start, user_id, max(event_time) AS last_event, count(*) AS n
        FROM numbered GROUP BY user_id, session""",
    "w4": """
        SELECT time_bucket(INTERVAL 5 MINUTE, event_time) AS window_start, page_id, count(*) AS n,
            quantile_cont(amount, 0.95) AS p
        FROM {events} GROUP BY ALL""",
    "w5": """
        SELECT time_bucket(INTERVAL 5 MINUTE, event_time) AS window_start, page_id, count(*) AS n,
            count(DISTINCT user_id) AS users
        FROM {events} GROUP BY ALL""",
    "w6": """
        SELECT date_trunc('minute', event_time) AS window_start, upper(page_id) AS page, count(*) AS n,
            sum(amount) AS total, avg(amount) AS mean, min(amount) AS least, max(amount) AS most,
            stddev(amount) AS spread, count(DISTINCT status) AS statuses, max(status) AS worst,
            bool_or(status = 404) AS missing, count(*) FILTER (WHERE event_type = 'click') AS clicks
        FROM {events} WHERE status < 500 AND amount > 0 GROUP BY ALL""",
    "w7": """
        SELECT click_id, c.imp_id, click_time, imp_time, campaign, amount
        FROM {clicks} c JOIN {impressions} i
            ON c.imp_id = i.imp_id AND click_time BETWEEN imp_time AND imp_time + INTERVAL 30 MINUTE""",
    # What comes twice is the same record, so any will do: with ORDER BY event_time it took a quarter more CPU.
    "w8": "SELECT DISTINCT ON (trace_id) * FROM {deliveries}",
    "w9": "SELECT DISTINCT ON (trace_id) * FROM {deliveries}",
}


def columns(schema):
    """A struct literal of columns and their types."""
    return "{" + ", ".join(f"{name}: '{kind}'" for name, kind in schema.items()) + "}"


def table(schema, needed, file_format, file):
    """The table expression that reads the file."""
    file = file.replace("'", "''")
    if file_format == "jsonl":
        named = {name: kind for name, kind in schema.items() if name in needed}
        return f"read_json('{file}', format='newline_delimited', columns={columns(named)})"
    if file_format == "csv":
        dialect = "header=true, auto_detect=false, delim=',', quote='\"', escape='\"'"
        return f"read_csv('{file}', {dialect}, columns={columns(schema)})"
    time = next(name for name, kind in schema.items() if kind == "TIMESTAMP")
    return f"(SELECT * REPLACE (make_timestamp(epoch_us({time})) AS {time}) FROM read_parquet('{file}'))"


def main():
    """Run the query of the work and write its answer."""
    work, file_format, *files, out, threads = sys.argv[1:]
    schemas = TABLES.get(work, {"events": EVENT})
    tables = {
        name: table(schema, COLUMNS[work], file_format, file) for (name, schema), file in zip(schemas.items(), files)
    }
    query = QUERIES[work].format(**tables)
    config = {"threads": int(threads), "preserve_insertion_order": "false", "temp_directory": out + ".spill"}
    how = "FORMAT json" if out.endswith(".jsonl") else "HEADER"
    out = out.replace("'", "''")
    duckdb.connect(config=config).execute(f"COPY ({query}) TO '{out}' ({how})")


main()
