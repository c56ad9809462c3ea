"""asyncio, aiohttp, orjson, asyncpg's binary COPY, in two processes: a page is one item, a store one transaction."""

import asyncio
import datetime
import multiprocessing
import pathlib

import aiohttp
import asyncpg
import orjson
import uvloop
from isal import igzip

import menu

PROCESSES = 2
# of each process
IN_FLIGHT = 8
CONNECTIONS = 4


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


async def crawl(job, pool, order, nth):
    """Crawls every second store, from the n-th on."""
    crawled_at = datetime.datetime.now(datetime.UTC)
    payloads, stores = pathlib.Path(job["payloads"]), iter(range(nth, len(job["stores"]), PROCESSES))

    async def work(session):
        for store in stores:
            raw, products = await fetch(session, job, store)
            (payloads / f"{store}-{crawled_at.timestamp()}.json.gz").write_bytes(b"".join(raw))
            rows = [menu.row(store, product) for product in products]
            await write(pool, order, rows, [menu.snapshot(row, crawled_at) for row in rows])

    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector, headers=menu.HEADERS, auto_decompress=False) as session:
        await asyncio.gather(*(work(session) for _ in range(IN_FLIGHT)))


async def serve(job, nth, begin, finish):
    async with asyncpg.create_pool(job["database_url"], min_size=CONNECTIONS, max_size=CONNECTIONS) as pool:
        order = await asyncio.to_thread(begin)
        await crawl(job, pool, order, nth)
        await asyncio.to_thread(finish)


def serve_second(job, pipe):
    """The body of the second process, whose orders come from the first."""

    def begin():
        pipe.send("ready")
        return pipe.recv()

    def finish():
        pipe.send("done")
        # what this process has used is read before its end
        pipe.recv()

    uvloop.run(serve(job, 1, begin, finish))


def main():
    job = menu.read_job()
    context = multiprocessing.get_context("spawn")
    pipe, other_end = context.Pipe()
    context.Process(target=serve_second, args=(job, other_end), daemon=True).start()
    # a second process that dies then ends the pipe
    other_end.close()

    def begin():
        pipe.recv()
        menu.tell("ready")
        order = menu.read_order()
        pipe.send(order)
        return order

    def finish():
        pipe.recv()
        menu.finish()

    uvloop.run(serve(job, 0, begin, finish))


if __name__ == "__main__":
    main()
