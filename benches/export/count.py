"""Counts a file of option histories with engines that analysts use.

In: format and path of the file. Out: a line of JSON for each engine, with its rows and the sums of its prices, quantities
and rows in stock.
"""

import json
import sys

import datafusion
import duckdb
import pandas
import pyarrow.parquet

COLUMNS = ["price_rec", "special_price_rec", "quantity", "is_in_stock"]
SUMS = """SELECT count(*), sum(price_rec), sum(special_price_rec), sum(quantity),
                 sum(CASE WHEN is_in_stock THEN 1 ELSE 0 END) FROM {table}"""
READERS = {"parquet": "read_parquet", "csv": "read_csv", "jsonl": "read_json"}
PART = 500_000


def by_duckdb(kind, path):
    return duckdb.sql(SUMS.format(table=f"{READERS[kind]}('{path}')")).fetchall()[0]


def by_datafusion(kind, path):
    context = datafusion.SessionContext()
    register = {"parquet": context.register_parquet, "csv": context.register_csv, "jsonl": context.register_json}
    register[kind]("history", path, **({} if kind == "parquet" else {"file_extension": f".{kind}"}))
    table = context.sql(SUMS.format(table="history")).to_pydict()
    return [column[0] for column in table.values()]


def by_pandas(kind, path):
    """In parts, as one does with files larger than the memory."""
    parts = {"parquet": of_parquet, "csv": of_csv, "jsonl": of_jsonl}
    sums = [0] * (1 + len(COLUMNS))
    for part in parts[kind](path):
        sums[0] += len(part)
        for at, column in enumerate(COLUMNS, 1):
            sums[at] += int(part[column].sum())
    return sums


def of_parquet(path):
    for batch in pyarrow.parquet.ParquetFile(path).iter_batches(PART, columns=COLUMNS):
        yield batch.to_pandas()


def of_csv(path):
    return pandas.read_csv(path, usecols=COLUMNS, chunksize=PART)


def of_jsonl(path):
    return pandas.read_json(path, lines=True, chunksize=PART)


for engine in (by_duckdb, by_pandas, by_datafusion):
    sums = engine(*sys.argv[1:])
    print(json.dumps({"engine": engine.__name__.removeprefix("by_"), "sums": [int(one) for one in sums]}), flush=True)
