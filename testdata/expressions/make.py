#!/usr/bin/env python3
"""Makes facts.json: expressions and what DuckDB 2.0.1 gives for each row of a small table.

Run in this folder, with Python 3 and `pip install duckdb==2.0.1`:  python3 make.py > facts.json

The facts are committed, so that no test needs DuckDB. `tests/expressions.rs` runs windrow on the same table and
compares. Where windrow means to differ there is no fact here but a test of its own there: division by zero is null,
JSON has no NaN (it is null), dates are instants, there are no intervals, `hash` is another function.
"""

import datetime
import decimal
import json
import math
import sys

import duckdb

COLUMNS = {
    "i": "BIGINT", "j": "BIGINT", "x": "DOUBLE", "y": "DOUBLE", "p": "DECIMAL(18,2)", "q": "DECIMAL(9,3)",
    "b": "BOOLEAN", "c": "BOOLEAN", "s": "VARCHAR", "u": "VARCHAR", "ts": "TIMESTAMP",
}
ROWS = [
    (1, 2, 1.5, 2.0, "10.50", "0.125", True, False, "Hello World", "hello", "2026-03-01 10:11:12.345678"),
    (-7, 3, -2.5, 0.5, "-0.01", "3.000", False, True, "grüße ÄÖÜ", "ü", "1969-12-31 23:59:59.999999"),
    (0, 5, 0.0, -0.0, "0.00", "-1.500", None, True, "", "", "2024-02-29 00:00:00"),
    (9007199254740993, -4, 1e300, 1e-300, "9999999999999999.99", "999999.999", True, None, "a,b,,c", ",", "2026-12-31 23:59:59.5"),
    (None, 7, "nan", 3.0, None, "1.000", False, False, None, "x", "2000-01-01 00:00:00"),
    (12, None, "inf", "nan", "1.25", None, None, None, "  padded\t", None, "2026-06-15 12:30:00"),
    (100, -100, "-inf", -1.0, "-12.35", "0.001", True, True, "/api/v1/users?id=42", "/", "1900-07-04 01:02:03.000004"),
    (-9223372036854775807, 1, 7.25, None, "3.33", "2.345", False, None, "日本語 text 🎉", "語", None),
]

NUMBERS = ["i", "j", "x", "y", "p", "q"]


def expressions():
    """Texts by topic; the topic names the test's chunk."""
    out = {}

    def add(topic, *texts):
        out.setdefault(topic, []).extend(texts)

    for op in ["+", "-", "*"]:
        for a, b in [("j", "3"), ("x", "y"), ("p", "q"), ("j", "x"), ("p", "2"), ("p", "x"), ("q", "q"), ("j", "p"), ("i % 1000", "j"), ("2", "x"), ("j", "1.5"), ("p", "0.1")]:
            add("arithmetic", f"{a} {op} {b}")
    for a, b in [("j", "3"), ("x", "4"), ("p", "2"), ("j", "0.5"), ("p", "7"), ("i % 1000", "7"), ("x", "2.5"), ("q", "3"), ("1", "3"), ("p", "1.25")]:
        add("arithmetic", f"{a} / {b}")
    for a, b in [("j", "3"), ("j", "-3"), ("-7", "2"), ("i", "10"), ("7", "j")]:
        add("arithmetic", f"{a} // {b}", f"{a} % {b}")
    add("arithmetic", "x % 2", "x % -2", "p % 3", "p % 0.7", "-i", "-x", "-p", "+j", "- (j + 1)", "j - -1", "2 + 3 * 4", "(2 + 3) * 4",
        "10 - 4 - 3", "2 * 3 % 4", "8 / 4 / 2", "-2 * -3", "j * j - j", "NULL + 1", "j + NULL", "1e3 + j", "0.1 + 0.2", "1.10 * 3", "0.1::DOUBLE + 0.2::DOUBLE",
        "p + p", "p - p", "p * p", "q * 1000", "9223372036854775806 + 1", "x + 1e308", "x * 0", "j * 0.01", "p * 1.0", "i - 1 + 1", "abs(j) * -1")

    pairs = [("j", "2"), ("i", "j"), ("x", "y"), ("x", "1.5"), ("p", "q"), ("p", "10.5"), ("j", "x"), ("s", "u"), ("s", "'a'"), ("b", "c"), ("ts", "TIMESTAMP '2024-02-29'"), ("x", "'nan'::DOUBLE"), ("y", "0"), ("j", "p"), ("i", "9007199254740992.0::DOUBLE"), ("u", "''")]
    for a, b in pairs:
        for op in ["=", "<>", "<", "<=", ">", ">="]:
            add("comparison", f"{a} {op} {b}")
        add("comparison", f"{a} IS DISTINCT FROM {b}", f"{a} IS NOT DISTINCT FROM {b}")
    add("comparison", "j != 2", "j == 2", "j = NULL", "NULL = NULL", "NULL IS NOT DISTINCT FROM NULL", "1 = 1.0", "1 < 1.5", "'a' < 'B'", "'ä' > 'z'", "true > false", "0.0::DOUBLE = -0.0::DOUBLE")

    for a in ["b", "i IS NULL", "j > 0"]:
        for c in ["c", "x > 0", "NULL"]:
            add("logic", f"{a} AND {c}", f"{a} OR {c}", f"NOT ({a}) AND {c}", f"NOT ({a} OR {c})")
    add("logic", "NOT b", "NOT NOT b", "NOT NULL", "b AND NOT c OR b", "b OR c AND b", "true", "false", "NULL", "b IS NULL", "b IS NOT NULL", "b IS TRUE", "b IS NOT TRUE", "b IS FALSE", "b IS NOT FALSE",
        "s IS NULL", "s IS NOT NULL", "(j + i) IS NULL", "x IS NULL", "b = true", "b <> false", "b IN (true)", "NOT j IN (1, 2)")

    for a in ["j", "x", "p", "i"]:
        add("membership", f"{a} IN (1, 2, 3)", f"{a} NOT IN (1, 2, 3)", f"{a} IN (1, NULL)", f"{a} NOT IN (1, NULL)", f"{a} IN (j, 0)", f"{a} IN (1.5, 1.25, 7)",
            f"{a} BETWEEN 0 AND 5", f"{a} NOT BETWEEN 0 AND 5", f"{a} BETWEEN NULL AND 5", f"{a} BETWEEN j AND 100", f"{a} BETWEEN 5 AND 0")
    add("membership", "s IN ('', 'a,b,,c')", "s NOT IN ('')", "u IN (s, 'x')", "s IN (NULL)", "u BETWEEN 'a' AND 'z'", "ts BETWEEN TIMESTAMP '2000-01-01' AND TIMESTAMP '2026-03-02'", "ts IN (TIMESTAMP '2000-01-01')", "b IN (c)", "x IN ('nan'::DOUBLE)", "x IN ('inf'::DOUBLE, 0)")

    patterns = ["%", "", "_", "%o%", "H%", "h%", "%d", "_e%", "a,%", "%,,%", "gr__e%", "%ÄÖÜ", "%🎉", "%語 %", "__本%", "%\\%%", "/api/%", "Hello World", "hello world", "%?id=__", "  padded%"]
    for pattern in patterns:
        add("patterns", f"s LIKE '{pattern}'", f"s ILIKE '{pattern}'")
    add("patterns", "s NOT LIKE '%o%'", "s NOT ILIKE '%O%'", "s ILIKE '%äöü'", "s LIKE u", "s LIKE '%' || u || '%'", "s LIKE NULL", "NULL LIKE '%'", "'50%' LIKE '50\\%' ESCAPE '\\'", "'50x' LIKE '50\\%' ESCAPE '\\'",
        "'a_c' LIKE 'a#_c' ESCAPE '#'", "'abc' LIKE 'a#_c' ESCAPE '#'", "'a.c' LIKE 'a.c'", "'abc' LIKE 'a.c'", "'a\nb' LIKE 'a%b'", "'(x)' LIKE '(_)'", "'STRASSE' ILIKE 'strasse'")

    add("choices", "CASE WHEN j > 0 THEN 'pos' WHEN j < 0 THEN 'neg' ELSE 'zero' END", "CASE WHEN j > 2 THEN j END", "CASE j WHEN 2 THEN 'two' WHEN 3 THEN 'three' ELSE s END",
        "CASE WHEN b THEN 1 ELSE 2.5 END", "CASE WHEN b THEN i ELSE x END", "CASE WHEN NULL THEN 1 ELSE 2 END", "CASE i WHEN NULL THEN 1 ELSE 0 END", "CASE WHEN b THEN p ELSE q END", "CASE WHEN i <> 0 THEN 100 // i END",
        "CASE WHEN b THEN NULL ELSE s END", "CASE WHEN b THEN ts END", "CASE WHEN b THEN c ELSE b END", "CASE WHEN j > 0 THEN CASE WHEN b THEN 'a' ELSE 'b' END ELSE 'c' END",
        "coalesce(i, j)", "coalesce(s, u, 'none')", "coalesce(NULL, j)", "coalesce(i, x)", "coalesce(p, 0)", "coalesce(ts, TIMESTAMP '1970-01-01')", "coalesce(b, c, false)", "coalesce(i, 100 // j)", "coalesce(j)", "coalesce(NULL, NULL)",
        "ifnull(i, 0)", "nullif(j, 2)", "nullif(s, '')", "nullif(x, 0)", "nullif(i, j)", "nullif(p, 1.25)", "nullif(b, true)", "if(b, 'yes', 'no')", "if(j > 2, i, 0)", "if(b, 1, 2.5)",
        "greatest(i, j)", "least(i, j)", "greatest(x, y)", "least(x, y)", "greatest(x, y, 2)", "least(j, 1, 2)", "greatest(s, u)", "least(s, u)", "greatest(p, q)", "least(p, 1)", "greatest(j, NULL)", "least(ts, TIMESTAMP '2000-01-01')", "greatest(b, c)", "greatest(j)", "least(i, x)")

    for value, types in {
        "j": ["VARCHAR", "DOUBLE", "DECIMAL(18,2)", "BOOLEAN", "INTEGER", "SMALLINT", "TINYINT", "BIGINT"],
        "i": ["VARCHAR", "DOUBLE", "BIGINT"],
        "x": ["VARCHAR", "FLOAT"], "y": ["VARCHAR"], "p": ["VARCHAR", "DOUBLE", "BIGINT", "DECIMAL(18,1)", "DECIMAL(18,4)", "INTEGER"],
        "q": ["VARCHAR", "DOUBLE", "BIGINT", "DECIMAL(9,1)", "DECIMAL(9,2)"], "b": ["VARCHAR", "BIGINT", "INTEGER"], "ts": ["VARCHAR"], "s": ["VARCHAR"],
    }.items():
        for ty in types:
            if ty != "FLOAT":
                add("casts", f"CAST({value} AS {ty})", f"{value}::{ty}", f"TRY_CAST({value} AS {ty})")
    for text, ty in [("'12'", "BIGINT"), ("' 12 '", "BIGINT"), ("'-0'", "BIGINT"), ("'+5'", "BIGINT"), ("'1.5'", "BIGINT"), ("'2.5'", "BIGINT"), ("'abc'", "BIGINT"), ("''", "BIGINT"), ("'9223372036854775808'", "BIGINT"), ("'1e3'", "BIGINT"),
                     ("'1.5'", "DOUBLE"), ("'nan'", "DOUBLE"), ("'inf'", "DOUBLE"), ("'-Infinity'", "DOUBLE"), ("'1e400'", "DOUBLE"), ("'x'", "DOUBLE"), ("' 2.5 '", "DOUBLE"), ("'.5'", "DOUBLE"), ("'5.'", "DOUBLE"),
                     ("'true'", "BOOLEAN"), ("'f'", "BOOLEAN"), ("'T'", "BOOLEAN"), ("'yes'", "BOOLEAN"), ("'1'", "BOOLEAN"), ("'0'", "BOOLEAN"), ("'no'", "BOOLEAN"), ("'maybe'", "BOOLEAN"),
                     ("'1.005'", "DECIMAL(9,2)"), ("'1.006'", "DECIMAL(9,2)"), ("'-1.005'", "DECIMAL(9,2)"), ("'12345678.9'", "DECIMAL(9,2)"), ("'x'", "DECIMAL(9,2)"), ("'2026-03-01'", "TIMESTAMP"), ("'2026-03-01 10:00:00'", "TIMESTAMP"), ("'2026-03-01T10:00:00.5'", "TIMESTAMP"), ("'soon'", "TIMESTAMP"), ("'2026-13-01'", "TIMESTAMP"),
                     ("2.5", "BIGINT"), ("3.5", "BIGINT"), ("-2.5", "BIGINT"), ("2.5::DOUBLE", "BIGINT"), ("3.5::DOUBLE", "BIGINT"), ("-0.5::DOUBLE", "BIGINT"), ("1e19::DOUBLE", "BIGINT"), ("'nan'::DOUBLE", "BIGINT"), ("1e15::DOUBLE", "VARCHAR"), ("1e16::DOUBLE", "VARCHAR"), ("1e-5::DOUBLE", "VARCHAR"), ("0.1::DOUBLE", "VARCHAR"), ("100.0::DOUBLE", "VARCHAR"), ("3000000000", "INTEGER"), ("0", "BOOLEAN"), ("-3", "BOOLEAN"), ("0.0::DOUBLE", "BOOLEAN"), ("1.25", "VARCHAR"), ("true", "VARCHAR"), ("NULL", "VARCHAR"), ("NULL", "BIGINT"), ("0.125::DOUBLE", "DECIMAL(9,2)"), ("0.135::DOUBLE", "DECIMAL(9,2)")]:
        add("casts", f"TRY_CAST({text} AS {ty})")
    add("casts", "CAST(s AS VARCHAR) || '!'", "length(j::VARCHAR)", "TRY_CAST(s AS BIGINT)", "TRY_CAST(u AS DOUBLE)", "CAST('7' AS BIGINT) + 1", "'7'::BIGINT * 2")

    for f in ["lower", "upper", "trim", "ltrim", "rtrim", "length", "reverse"]:
        add("text", f"{f}(s)", f"{f}(u)", f"{f}(NULL)")
    add("text", "s || u", "s || '!'", "'<' || s || '>'", "s || NULL", "u || j", "j || u", "concat(s, u)", "concat(s, '-', u)", "concat(s, NULL, 'x')", "concat(j, b)", "concat(u)", "concat_ws('-', s, u)",
        "trim(s, ' d')", "trim('xxaxx', 'x')", "ltrim('xxaxx', 'x')", "rtrim('xxaxx', 'x')", "strlen(s)", "lpad(u, 4, '*')", "rpad(u, 4, '*')", "repeat(u, 2)", "left(s, 3)", "right(s, 3)", "left(s, -3)", "right(s, -3)", "left(s, 0)",
        "substr(s, 1, 3)", "substr(s, 3)", "substr(s, 0, 3)", "substr(s, -3)", "substr(s, -3, 2)", "substr(s, 2, 0)", "substr(s, 100)", "substr(s, 5, 100)", "substr(s, 1, -1)", "substr(s, j, 2)", "substring(s, 2, 3)", "substring(s, 4)",
        "replace(s, 'l', 'L')", "replace(s, '', 'x')", "replace(s, ',', '')", "replace(s, u, '#')", "replace(s, NULL, 'x')", "replace('aaa', 'aa', 'b')",
        "split_part(s, ',', 1)", "split_part(s, ',', 2)", "split_part(s, ',', 3)", "split_part(s, ',', 9)", "split_part(s, ',', -1)", "split_part(s, ' ', 1)", "split_part(s, ' ', 2)", "split_part(s, '', 1)", "split_part(s, u, 1)", "split_part('a--b', '--', 2)",
        "starts_with(s, 'H')", "starts_with(s, '')", "starts_with(s, u)", "starts_with(s, NULL)", "ends_with(s, 'd')", "suffix(s, 'd')", "contains(s, 'l')", "contains(s, u)", "contains(s, '')", "strpos(s, 'o')", "strpos(s, u)", "instr(s, 'l')", "position('l' IN s)",
        "upper(s) = s", "length(s) > 5", "lower(upper(s))", "length(s || u)", "length('🎉')", "length('日本語')", "upper('straße')", "lower('ÄÖÜ')", "upper(left(u, 1)) || lower(substr(u, 2))", "ascii(u)", "chr(65)", "starts_with(lower(s), u)")

    for pattern in ["l+", "^H", "^h", "o$", "[0-9]+", "(\\w+) (\\w+)", "^$", "\\s", "[äöü]", "(?i)hello", "id=(\\d+)", "a,b", ".", "\\p{L}+", "日.語", "^\\s*(\\w+)"]:
        add("regular expressions", f"regexp_matches(s, '{pattern}')", f"regexp_extract(s, '{pattern}')", f"regexp_replace(s, '{pattern}', '#')", f"regexp_replace(s, '{pattern}', '#', 'g')")
    add("regular expressions", "regexp_extract(s, '(\\w+) (\\w+)', 2)", "regexp_extract(s, '(\\w+) (\\w+)', 0)", "regexp_extract(s, 'id=(\\d+)', 1)", "regexp_extract(s, '/(v\\d)/', 1)", "regexp_matches(s, NULL)", "regexp_extract(NULL, 'a')", "regexp_matches(s, 'HELLO', 'i')", "regexp_full_match(s, 'a.*')", "regexp_extract(s, '(x)|(y)', 1)",
        "regexp_replace(s, '(\\w+) (\\w+)', '\\2 \\1')", "regexp_extract(s, 'zzz')")

    for f in ["abs", "floor", "ceil", "round", "sign"]:
        for a in ["j", "x", "y", "p", "q"]:
            add("numbers", f"{f}({a})")
    add("numbers", "ceiling(x)", "trunc(x)", "trunc(p)", "abs(-5)", "abs(i)", "round(x, 1)", "round(p, 1)", "round(q, 2)", "round(j, -1)", "round(x, -1)", "round(2.5::DOUBLE)", "round(-2.5::DOUBLE)", "round(0.5::DOUBLE)", "round(2.345::DOUBLE, 2)", "round(2.5)", "round(-2.5)", "round(1.005, 2)", "round(NULL)",
        "floor(-0.5::DOUBLE)", "ceil(-0.5::DOUBLE)", "floor(2.7)", "ceil(2.1)", "power(j, 2)", "power(x, 2)", "power(2, j)", "pow(2, 10)", "power(2, 0.5)", "power(p, 2)", "power(0, 0)", "2 ** 3", "j ** 2",
        "ln(abs(j))", "ln(2.5::DOUBLE)", "ln(1)", "log10(1000)", "log10(abs(j))", "log(100)", "log2(8)", "sqrt(abs(j))", "sqrt(2)", "sqrt(p * p)", "exp(1)", "exp(0)", "cbrt(27)", "mod(j, 3)", "mod(x, 2)", "pi()", "isnan(x)", "isinf(x)", "isfinite(x)", "sign(-3)", "greatest(abs(j), 3)", "round(x * 3, 2)",
        "sin(0)", "cos(0)", "degrees(pi())", "radians(180)", "atan2(1, 1)", "gcd(12, j)", "abs(j) % 5", "ceil(x / 3)")

    parts = ["year", "month", "day", "hour", "minute", "second", "quarter", "week", "dow", "isodow", "doy", "epoch", "millisecond", "microsecond", "isoyear"]
    for part in parts:
        add("times", f"extract({part} FROM ts)", f"date_part('{part}', ts)")
    for part in ["year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond"]:
        add("times", f"date_trunc('{part}', ts)::TIMESTAMP")
    add("times", "year(ts)", "month(ts)", "day(ts)", "hour(ts)", "minute(ts)", "second(ts)", "epoch(ts)", "epoch_ms(ts)", "epoch_us(ts)", "ts", "ts = ts", "ts < TIMESTAMP '2026-01-01'", "ts > '2026-01-01'", "ts = '2000-01-01'", "TIMESTAMP '2026-03-01 10:00:00.25'",
        "dayofweek(ts)", "to_timestamp(0)", "to_timestamp(1.5)", "to_timestamp(j)", "make_timestamp(1000000)", "make_timestamp(2026, 3, 1, 10, 0, 0.5)")
    for f in ["%Y-%m-%d", "%H:%M:%S", "%Y-%m-%dT%H:%M:%S.%f", "%y/%-m/%-d", "%j", "%a %A", "%b %B", "%I:%M %p", "%u %w", "%%", "%d.%m.%Y text", "%G-W%V", "%f", "%H"]:
        add("times", f"strftime(ts, '{f}')")
    for text, f in [("2026-03-01", "%Y-%m-%d"), ("01/02/2026 03:04:05", "%d/%m/%Y %H:%M:%S"), ("2026-03-01T10:11:12.5", "%Y-%m-%dT%H:%M:%S.%f"), ("Mar 1 2026", "%b %d %Y"), ("10:30 PM 2026-01-02", "%I:%M %p %Y-%m-%d"), ("26060", "%y%j"), ("1 March 2026", "%d %B %Y")]:
        add("times", f"strptime('{text}', '{f}')")
    add("times", "try_strptime('soon', '%Y')", "try_strptime(s, '%Y')", "strptime(strftime(ts, '%Y-%m-%d %H:%M:%S'), '%Y-%m-%d %H:%M:%S')", "strptime(NULL, '%Y')", "strftime(NULL, '%Y')", "length(strftime(ts, '%Y-%m-%d'))")
    return out


def number(value):
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return value


def fact(value):
    """A value as the test reads it: {"t": type, "v": value}; null is null."""
    if value is None:
        return None
    if isinstance(value, bool):
        return {"t": "bool", "v": value}
    if isinstance(value, int):
        return {"t": "int", "v": str(value)}
    if isinstance(value, float):
        return {"t": "double", "v": number(value)}
    if isinstance(value, decimal.Decimal):
        return {"t": "decimal", "v": format(value, "f")}
    if isinstance(value, datetime.datetime):
        if value.tzinfo is not None:
            value = value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
        digits = value.microsecond
        text = value.strftime("%Y-%m-%dT%H:%M:%S") if value.year >= 1000 else value.isoformat()
        fraction = "" if digits == 0 else (f".{digits // 1000:03}" if digits % 1000 == 0 else f".{digits:06}")
        return {"t": "time", "v": text + fraction + "Z"}
    if isinstance(value, str):
        return {"t": "text", "v": value}
    raise TypeError(type(value))


def main():
    db = duckdb.connect()
    assert db.sql("SELECT version()").fetchall()[0][0] == "v2.0.1"
    db.execute("SET TimeZone = 'UTC'")
    columns = ", ".join(f"{name} {ty}" for name, ty in COLUMNS.items())
    db.execute(f"CREATE TABLE t (id INTEGER, {columns})")
    for at, row in enumerate(ROWS):
        db.execute(f"INSERT INTO t VALUES ({', '.join('?' * (len(row) + 1))})", [at, *row])
    facts, skipped = {}, []
    for topic, texts in expressions().items():
        for text in dict.fromkeys(texts):
            values = []
            for at in range(len(ROWS)):
                try:
                    values.append(fact(db.execute(f"SELECT {text} FROM t WHERE id = {at}").fetchall()[0][0]))
                except (duckdb.Error, TypeError) as error:
                    kind = type(error).__name__
                    if kind in ("BinderException", "CatalogException", "ParserException", "TypeError", "NotImplementedException"):
                        skipped.append((text, str(error).split("\n")[0]))
                        values = None
                        break
                    values.append({"t": "error"})
            if values is not None:
                facts.setdefault(topic, []).append([text, values])
    table = {"columns": COLUMNS, "rows": [list(row) for row in ROWS]}
    lines = [f'{{"table": {json.dumps(table, ensure_ascii=False)},', '"facts": {']
    topics = []
    for topic, some in facts.items():
        topics.append(f"{json.dumps(topic)}: [\n" + ",\n".join(json.dumps(f, ensure_ascii=False) for f in some) + "\n]")
    lines.append(",\n".join(topics))
    lines.append("}}")
    print("\n".join(lines))
    for text, why in skipped:
        print(f"skipped: {text}: {why}", file=sys.stderr)
    print(sum(map(len, facts.values())), "facts", {k: len(v) for k, v in facts.items()}, file=sys.stderr)


if __name__ == "__main__":
    main()
