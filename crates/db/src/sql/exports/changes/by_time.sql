-- exports/changes/by_time.sql: the next crawls of all stores that brought changes, by time. $at and $crawl: the last one that was read.
SELECT b.seq, b.crawl_id, b.crawled_at, b.dispensary_id AS store_id, d.name AS store, d.city, d.state
  FROM (SELECT *
          FROM change_batches
         WHERE seq IS NOT NULL
           AND ($since::timestamptz IS NULL OR crawled_at >= $since)
           AND ($until::timestamptz IS NULL OR crawled_at < $until)
           AND ($at::timestamptz IS NULL OR (crawled_at, crawl_id) > ($at, $crawl))
         ORDER BY crawled_at, crawl_id
         LIMIT $limit) b
 CROSS JOIN LATERAL (SELECT d.name, d.city, d.state FROM dispensaries d WHERE d.id = b.dispensary_id OFFSET 0) d
