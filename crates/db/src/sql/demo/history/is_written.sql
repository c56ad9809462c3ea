-- demo/history/is_written.sql: whether the history of the queue, and that of products, was written
SELECT EXISTS (SELECT FROM fetch_minute WHERE process = 0) AS of_queue,
       EXISTS (SELECT FROM store_product_snapshots WHERE crawl_id < 0) AS of_products
