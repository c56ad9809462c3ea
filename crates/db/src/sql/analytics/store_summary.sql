-- analytics/store_summary.sql: sales of stores, which have $brand, in the order of their ids; a null filters nothing.
-- Planned for its values. $from and $to: when they were crawled. $after: ids above this.
SELECT s.dispensary_id, s.dispensary_name, s.platform, s.state, s.city, s.crawl_enabled, json_time(s.last_crawl_at) AS last_crawl_at,
       s.products, s.products_in_stock, s.products_out_of_stock, s.products_stock_unknown, s.products_on_special, s.brands_in_stock,
       s.categories_in_stock, s.price_rec_min, s.price_rec_avg, s.price_rec_max
  FROM mv_store_summary s
 WHERE ($state::text IS NULL OR s.state = upper($state))
   AND ($store::bigint IS NULL OR s.dispensary_id = $store)
   AND ($brand::text IS NULL OR EXISTS (SELECT FROM mv_brand_presence b
                               WHERE b.dispensary_id = s.dispensary_id AND b.brand_key = brand_key($brand)))
   AND ($from::timestamptz IS NULL OR s.last_crawl_at >= $from)
   AND ($to::timestamptz IS NULL OR s.last_crawl_at < $to)
   AND ($after::bigint IS NULL OR s.dispensary_id > $after)
 ORDER BY s.dispensary_id
 LIMIT $rows
