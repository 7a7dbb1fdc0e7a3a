"""Events from CSV to Parquet, their order kept: to_parquet.py IN.csv OUT.parquet ROW_GROUP_ROWS.

zstd, level 3; times as timestamp[ms, UTC].
"""

import sys

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

SCHEMA = pa.schema(
    {
        "event_time": pa.timestamp("ms", tz="UTC"),
        "user_id": pa.string(),
        "page_id": pa.string(),
        "event_type": pa.string(),
        "amount": pa.float64(),
        "status": pa.int32(),
        "trace_id": pa.string(),
        "user_agent": pa.string(),
    }
)


def groups(batches, rows):
    """Tables of exactly so many rows; the last may have fewer."""
    held = SCHEMA.empty_table()
    for batch in batches:
        held = pa.concat_tables([held, pa.Table.from_batches([batch]).cast(SCHEMA)])
        while held.num_rows >= rows:
            yield held.slice(0, rows)
            held = held.slice(rows)
    if held.num_rows:
        yield held


def main():
    """Convert the file."""
    source, out, rows = sys.argv[1], sys.argv[2], int(sys.argv[3])
    batches = pa.csv.open_csv(
        source,
        read_options=pa.csv.ReadOptions(block_size=64 << 20),
        convert_options=pa.csv.ConvertOptions(column_types=SCHEMA),
    )
    with pa.parquet.ParquetWriter(out, SCHEMA, compression="zstd", compression_level=3) as writer:
        for table in groups(batches, rows):
            writer.write_table(table, row_group_size=rows)


main()
