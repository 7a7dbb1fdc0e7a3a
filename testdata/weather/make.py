"""Makes the files of this folder: flights and hourly weather (nycflights13, CC0), and what DuckDB's ASOF JOIN says.

    python3 make.py FLIGHTS.csv WEATHER.csv      (needs: pip install duckdb)

`flights.csv` has the flights of a day, `weather.csv` the weather of that day without every fourth hour, so that
many a flight finds an older row. `backward.csv`, `nearest.csv` and `within.csv` (an
interval join) are the answers.
"""
import sys

import duckdb

flights, weather = sys.argv[1:]
sql = duckdb.connect().execute
sql("SET TimeZone = 'UTC'")
sql(f"""CREATE TABLE f AS SELECT row_number() OVER () AS id, origin, dest, time_hour, minute
        FROM read_csv('{flights}', nullstr='NA') WHERE time_hour < TIMESTAMPTZ '2013-01-02 05:00:00Z'""")
sql(f"""CREATE TABLE w AS SELECT origin, time_hour, temp, wind_speed FROM read_csv('{weather}', nullstr='NA')
        WHERE time_hour < TIMESTAMPTZ '2013-01-02 05:00:00Z' AND hour % 4 <> 3 AND origin <> 'LGA'""")
sql("COPY (SELECT * REPLACE (strftime(time_hour, '%Y-%m-%dT%H:%M:%SZ') AS time_hour) FROM f) TO 'flights.csv'")
sql("COPY (SELECT * REPLACE (strftime(time_hour, '%Y-%m-%dT%H:%M:%SZ') AS time_hour) FROM w) TO 'weather.csv'")
sql("CREATE TABLE e AS SELECT *, time_hour + minute * INTERVAL 1 MINUTE AS ts FROM f")
sql("""COPY (SELECT e.id, strftime(w.time_hour, '%Y-%m-%dT%H:%M:%SZ') AS observed, w.temp, w.wind_speed
       FROM e ASOF LEFT JOIN w ON e.origin = w.origin AND e.ts >= w.time_hour ORDER BY e.id) TO 'backward.csv'""")
sql("""COPY (SELECT e.id, strftime(arg_min(w.time_hour, (abs(epoch_us(w.time_hour) - epoch_us(e.ts)), w.time_hour)),
                           '%Y-%m-%dT%H:%M:%SZ') AS observed
       FROM e JOIN w ON e.origin = w.origin AND abs(epoch_us(w.time_hour) - epoch_us(e.ts)) <= 1800000000
       GROUP BY e.id ORDER BY e.id) TO 'nearest.csv'""")
sql("""COPY (SELECT e.id, strftime(w.time_hour, '%Y-%m-%dT%H:%M:%SZ') AS observed FROM e JOIN w
       ON e.origin = w.origin AND w.time_hour BETWEEN e.ts - INTERVAL 2 HOUR AND e.ts + INTERVAL 15 MINUTE
       ORDER BY e.id, w.time_hour) TO 'within.csv'""")
