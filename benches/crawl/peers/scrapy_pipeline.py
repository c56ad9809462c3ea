"""Scrapy with an item pipeline: a product is an item, a batch of items one transaction by COPY."""

import datetime
import pathlib

import orjson
import psycopg
import scrapy
from isal import igzip
from scrapy.crawler import CrawlerProcess
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import DeferredLock
from twisted.internet.threads import deferToThread

import menu

BATCH = 1000


class MenuSpider(scrapy.Spider):
    name = "menus"

    async def start(self):
        for store in range(len(self.job["stores"])):
            yield self.request(store, 0, {})

    def request(self, store, page, products):
        return scrapy.Request(
            menu.url(self.job, store, page),
            headers=menu.HEADERS,
            meta={"proxy": menu.proxy(self.job, store)},
            cb_kwargs={"store": store, "page": page, "products": products},
            dont_filter=True,
        )

    def parse(self, response, store, page, products):
        (self.payloads / f"{store}-{page}-{self.crawled_at.timestamp()}.json.gz").write_bytes(response.body)
        answer = orjson.loads(igzip.decompress(response.body))["data"]["filteredProducts"]
        # of a product on two pages the later one is right, and it has one snapshot
        products |= {product["_id"]: product for product in answer["products"]}
        if page + 1 < answer["queryInfo"]["totalPages"]:
            yield self.request(store, page + 1, products)
            return
        for product in products.values():
            yield {"row": menu.row(store, product)}


class CopyPipeline:
    def __init__(self, crawler):
        self.crawler = crawler
        self.batch = {}
        self.writing = DeferredLock()

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    def open_spider(self):
        self.connection = psycopg.connect(self.crawler.spider.job["database_url"])
        self.connection.execute("CREATE TEMP TABLE incoming (LIKE products) ON COMMIT DELETE ROWS")
        self.connection.commit()

    async def process_item(self, item):
        row = item["row"]
        self.batch[row[:2]] = row
        if len(self.batch) >= BATCH:
            await self.flush()
        return item

    async def close_spider(self):
        await self.flush()
        self.connection.close()

    async def flush(self):
        batch, self.batch = self.batch, {}
        # one connection: while a batch is written, the next may be full
        await maybe_deferred_to_future(self.writing.run(deferToThread, self.write, list(batch.values())))

    def write(self, rows):
        crawled_at = self.crawler.spider.crawled_at
        with self.connection.transaction(), self.connection.cursor() as cursor:
            copy(cursor, "incoming", menu.PRODUCT_COLUMNS, rows)
            cursor.execute(menu.MERGE)
            copy(cursor, "snapshots", menu.SNAPSHOT_COLUMNS, (menu.snapshot(row, crawled_at) for row in rows))


def copy(cursor, table, columns, rows):
    with cursor.copy(f"COPY {table} ({', '.join(columns)}) FROM STDIN") as out:
        for row in rows:
            out.write_row(row)


SETTINGS = {
    "COMPRESSION_ENABLED": False,
    "CONCURRENT_REQUESTS": 16,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
    "COOKIES_ENABLED": False,
    "DOWNLOAD_DELAY": 0,
    "ITEM_PIPELINES": {CopyPipeline: 300},
    "LOG_LEVEL": "WARNING",
    "REDIRECT_ENABLED": False,
    "ROBOTSTXT_OBEY": False,
    "TELNETCONSOLE_ENABLED": False,
}


def main():
    job = menu.read_job()
    process = CrawlerProcess(SETTINGS)
    menu.tell("ready")
    menu.read_order()
    crawled_at = datetime.datetime.now(datetime.UTC)
    process.crawl(MenuSpider, job=job, crawled_at=crawled_at, payloads=pathlib.Path(job["payloads"]))
    process.start()
    menu.finish()


main()
