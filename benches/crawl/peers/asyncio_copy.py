"""asyncio, aiohttp, orjson, asyncpg's binary COPY: a page is one item, a store one transaction."""

import asyncio
import datetime
import pathlib

import aiohttp
import asyncpg
import orjson
import uvloop
from isal import igzip

import menu

IN_FLIGHT = 16


async def fetch(session, job, store):
    raw, products, pages, page = [], {}, 1, 0
    while page < pages:
        async with session.get(menu.url(job, store, page), proxy=menu.proxy(job, store)) as response:
            response.raise_for_status()
            raw.append(await response.read())
        answer = orjson.loads(igzip.decompress(raw[-1]))["data"]["filteredProducts"]
        pages = answer["queryInfo"]["totalPages"]
        for product in answer["products"]:
            products[product["_id"]] = product
        page += 1
    return raw, products.values()


async def write(pool, order, rows, snapshots):
    async with pool.acquire() as connection, connection.transaction():
        if order == "first":
            await connection.copy_records_to_table("products", records=rows, columns=menu.PRODUCT_COLUMNS)
        else:
            await connection.execute("CREATE TEMP TABLE IF NOT EXISTS incoming (LIKE products) ON COMMIT DELETE ROWS")
            await connection.copy_records_to_table("incoming", records=rows, columns=menu.PRODUCT_COLUMNS)
            await connection.execute(menu.MERGE)
        await connection.copy_records_to_table("snapshots", records=snapshots, columns=menu.SNAPSHOT_COLUMNS)


async def crawl(job, pool, order):
    crawled_at = datetime.datetime.now(datetime.UTC)
    payloads, stores = pathlib.Path(job["payloads"]), iter(range(len(job["stores"])))

    async def work(session):
        for store in stores:
            raw, products = await fetch(session, job, store)
            (payloads / f"{store}-{crawled_at.timestamp()}.json.gz").write_bytes(b"".join(raw))
            rows = [menu.row(store, product) for product in products]
            await write(pool, order, rows, [menu.snapshot(row, crawled_at) for row in rows])

    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector, headers=menu.HEADERS, auto_decompress=False) as session:
        await asyncio.gather(*(work(session) for _ in range(IN_FLIGHT)))


async def main():
    job = menu.read_job()
    async with asyncpg.create_pool(job["database_url"], min_size=8, max_size=8) as pool:
        menu.tell("ready")
        order = await asyncio.to_thread(menu.read_order)
        await crawl(job, pool, order)
        await asyncio.to_thread(menu.finish)


uvloop.run(main())
