"""Records from CSV to Parquet, their order kept: to_parquet.py TABLE IN.csv OUT.parquet ROW_GROUP_ROWS.

zstd, level 3; times as timestamp[ms, UTC].
"""

import sys

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

TIME, TEXT, DOUBLE, INTEGER = pa.timestamp("ms", tz="UTC"), pa.string(), pa.float64(), pa.int32()
EVENT = {
    "event_time": TIME,
    "user_id": TEXT,
    "page_id": TEXT,
    "event_type": TEXT,
    "amount": DOUBLE,
    "status": INTEGER,
    "trace_id": TEXT,
    "user_agent": TEXT,
}
SCHEMAS = {
    "events": EVENT,
    "deliveries": EVENT,
    "narrow": {"event_time": TIME, "trace_id": TEXT, "amount": DOUBLE},
    "impressions": {
        "imp_id": TEXT,
        "imp_time": TIME,
        "user_id": TEXT,
        "page_id": TEXT,
        "campaign": TEXT,
        "price": DOUBLE,
    },
    "clicks": {"click_id": TEXT, "imp_id": TEXT, "click_time": TIME, "amount": DOUBLE},
}


def groups(batches, schema, rows):
    """Tables of exactly so many rows; the last may have fewer."""
    held = schema.empty_table()
    for batch in batches:
        held = pa.concat_tables([held, pa.Table.from_batches([batch]).cast(schema)])
        while held.num_rows >= rows:
            yield held.slice(0, rows)
            held = held.slice(rows)
    if held.num_rows:
        yield held


def main():
    """Convert the file."""
    table, source, out, rows = *sys.argv[1:4], int(sys.argv[4])
    schema = pa.schema(SCHEMAS[table])
    batches = pa.csv.open_csv(
        source,
        read_options=pa.csv.ReadOptions(block_size=64 << 20),
        convert_options=pa.csv.ConvertOptions(column_types=schema),
    )
    with pa.parquet.ParquetWriter(out, schema, compression="zstd", compression_level=3) as writer:
        for group in groups(batches, schema, rows):
            writer.write_table(group, row_group_size=rows)


main()
