-- exports/changes/of_stores.sql: the next crawls of stores that brought changes, in the order of the stores, as the feed has them. $after: the
-- place in the feed of the last crawl that was read of the first store.
SELECT b.seq, b.crawl_id, b.crawled_at, s.id AS store_id, d.name AS store, d.city, d.state
  FROM unnest($stores::bigint[]) WITH ORDINALITY AS s (id, place)
 CROSS JOIN LATERAL (SELECT d.name, d.city, d.state FROM dispensaries d WHERE d.id = s.id OFFSET 0) d
 CROSS JOIN LATERAL (
       SELECT *
         FROM (SELECT b.seq, b.crawl_id, b.crawled_at
                 FROM change_batches b
                WHERE b.dispensary_id = s.id
                  AND b.count > 0
               OFFSET 0) b      -- by the key of stores: a walk of the feed would pass the crawls of all stores
        WHERE (s.place > 1 OR b.seq > $after)
          AND b.seq IS NOT NULL
          AND ($since::timestamptz IS NULL OR b.crawled_at >= $since)
          AND ($until::timestamptz IS NULL OR b.crawled_at < $until)
        ORDER BY b.seq) b
 LIMIT $limit
