-- changes/add_batch.sql: adds the batch of a crawl, which the publisher numbers once it is committed.
INSERT INTO change_batches (crawl_id, dispensary_id, crawled_at, count, baseline)
VALUES ($crawl, $store, $crawled_at, $count, $baseline)
    ON CONFLICT DO NOTHING;
