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


async def serve(job, nth, tell, order):
    async with asyncpg.create_pool(job["database_url"], min_size=CONNECTIONS, max_size=CONNECTIONS) as pool:
        await asyncio.to_thread(tell, "ready")
        await crawl(job, pool, await asyncio.to_thread(order), nth)
        await asyncio.to_thread(tell, "done")


def help_out(job, nth, pipe):
    """The body of another process than the first."""
    uvloop.run(serve(job, nth, pipe.send, pipe.recv))
    # what it has used is read before its end
    pipe.recv()


def main():
    job = menu.read_job()
    context = multiprocessing.get_context("spawn")
    pipes = []
    for nth in range(1, PROCESSES):
        ours, theirs = context.Pipe()
        context.Process(target=help_out, args=(job, nth, theirs), daemon=True).start()
        pipes.append(ours)

    def tell(answer):
        assert all(pipe.recv() == answer for pipe in pipes)
        menu.finish() if answer == "done" else menu.tell(answer)

    def order():
        received = menu.read_order()
        for pipe in pipes:
            pipe.send(received)
        return received

    uvloop.run(serve(job, 0, tell, order))


if __name__ == "__main__":
    main()
