"""One job by Polars: peer_polars.py WORK FORMAT FILE... OUT THREADS; OUT ends in .csv or .jsonl.

Lazy, on the streaming engine, with an explicit schema and the needed columns only. Sliding windows are made of counts
per minute: group_by_dynamic has to sort all events first and took four times as long.
"""

import os
import sys

WORK, FORMAT, *FILES, OUT, THREADS = sys.argv[1:]
os.environ["POLARS_MAX_THREADS"] = THREADS  # read once, at import

import polars as pl  # noqa: E402

EVENT = {
    "event_time": pl.String,
    "user_id": pl.String,
    "page_id": pl.String,
    "event_type": pl.String,
    "amount": pl.Float64,
    "status": pl.Int32,
    "trace_id": pl.String,
    "user_agent": pl.String,
}
NARROW = {name: EVENT[name] for name in ["event_time", "trace_id", "amount"]}
IMPRESSION = {
    "imp_id": pl.String,
    "imp_time": pl.String,
    "user_id": pl.String,
    "page_id": pl.String,
    "campaign": pl.String,
    "price": pl.Float64,
}
CLICK = {"click_id": pl.String, "imp_id": pl.String, "click_time": pl.String, "amount": pl.Float64}
TIME, AMOUNT = pl.col("event_time"), pl.col("amount")


def table(file, schema, names, time):
    """These columns of a file, the time as a plain instant in UTC."""
    time = pl.col(time)
    if FORMAT == "parquet":
        return pl.scan_parquet(file).select(names).with_columns(time.dt.replace_time_zone(None))
    if FORMAT == "jsonl":
        rows = pl.scan_ndjson(file, schema={name: schema[name] for name in names})
    else:
        rows = pl.scan_csv(file, schema=schema).select(names)
    return rows.with_columns(time.str.to_datetime("%Y-%m-%dT%H:%M:%S%.3fZ", time_unit="ms", cache=False, strict=True))


def events(*names):
    """These columns of the events."""
    return table(FILES[0], EVENT, names, "event_time")


def tumbling():
    """w1: count and sum per minute and page."""
    minute = TIME.dt.truncate("1m").alias("window_start")
    totals = [pl.len().alias("n"), pl.col("amount").sum().alias("total")]
    return events("event_time", "page_id", "amount").group_by(minute, "page_id").agg(totals)


def sliding():
    """w2: count per ten minutes, one window every minute, and page."""
    minute = TIME.dt.truncate("1m").alias("minute")
    panes = events("event_time", "page_id").group_by(minute, "page_id").agg(pl.len().cast(pl.Int64).alias("c"))
    start = (pl.col("minute") - pl.duration(minutes=pl.col("i"))).alias("window_start")
    in_windows = panes.join(pl.LazyFrame({"i": list(range(10))}), how="cross").with_columns(start)
    return in_windows.group_by("window_start", "page_id").agg(pl.col("c").sum().alias("n"))


def sessions():
    """w3: visits of a user without a break of more than half an hour."""
    user = pl.col("user_id")
    starts = (TIME - TIME.shift(1) > pl.duration(minutes=30)) | (user != user.shift(1))
    number = starts.fill_null(True).cast(pl.UInt32).cum_sum().alias("session")
    rows = events("event_time", "user_id").sort("user_id", "event_time").with_columns(number)
    start, last = TIME.min().alias("window_start"), TIME.max().alias("last_event")
    return rows.group_by("session").agg(start, user.first(), last, pl.len().alias("n"))


def grouped(size, key, rows, *values):
    """Aggregates per window and page."""
    return rows.group_by(TIME.dt.truncate(size).alias("window_start"), key).agg(pl.len().alias("n"), *values)


def percentile():
    """w4: 95th percentile per five minutes and page."""
    return grouped("5m", "page_id", events("event_time", "page_id", "amount"), AMOUNT.quantile(0.95, "linear").alias("p"))


def different():
    """w5: different users per five minutes and page."""
    users = pl.col("user_id").n_unique().alias("users")
    return grouped("5m", "page_id", events("event_time", "page_id", "user_id"), users)


def ten():
    """w6: a condition, a computed key and ten aggregates."""
    rows = events("event_time", "page_id", "amount", "status", "event_type")
    rows = rows.filter((pl.col("status") < 500) & (AMOUNT > 0))
    status = pl.col("status")
    values = [
        AMOUNT.sum().alias("total"),
        AMOUNT.mean().alias("mean"),
        AMOUNT.min().alias("least"),
        AMOUNT.max().alias("most"),
        AMOUNT.std().alias("spread"),
        status.n_unique().alias("statuses"),
        status.max().alias("worst"),
        (status == 404).any().alias("missing"),
        (pl.col("event_type") == "click").sum().alias("clicks"),
    ]
    return grouped("1m", pl.col("page_id").str.to_uppercase().alias("page"), rows, *values)


def join():
    """w7: clicks with their impression, if that was at most half an hour before."""
    impressions = table(FILES[0], IMPRESSION, ["imp_id", "imp_time", "campaign"], "imp_time")
    clicks = table(FILES[1], CLICK, list(CLICK), "click_time")
    after = pl.col("click_time") - pl.col("imp_time")
    rows = clicks.join(impressions, on="imp_id", how="inner")
    rows = rows.filter((after >= pl.duration(minutes=0)) & (after <= pl.duration(minutes=30)))
    return rows.select("click_id", "imp_id", "click_time", "imp_time", "campaign", "amount")


def first_deliveries(schema):
    """w8, w9: each id once."""
    return table(FILES[0], schema, list(schema), "event_time").unique(subset=["trace_id"], keep="any")


WORKS = {
    "w1": tumbling,
    "w2": sliding,
    "w3": sessions,
    "w4": percentile,
    "w5": different,
    "w6": ten,
    "w7": join,
    "w8": lambda: first_deliveries(EVENT),
    "w9": lambda: first_deliveries(NARROW),
}
answer = WORKS[WORK]()
if OUT.endswith(".jsonl"):
    answer.sink_ndjson(OUT, engine="streaming")
else:
    answer.sink_csv(OUT, engine="streaming")
