-- analytics/store_summary.sql: sales of stores, in the order of their ids; a null filters nothing. Planned
-- for its values. $1 state, $2 store, $3 a brand that they have, $4 and $5 crawled from and before, $6 ids
-- above this, $7 rows
SELECT s.dispensary_id, s.dispensary_name, s.platform, s.state, s.city, s.crawl_enabled, json_time(s.last_crawl_at) AS last_crawl_at,
       s.products, s.products_in_stock, s.products_out_of_stock, s.products_stock_unknown, s.products_on_special, s.brands_in_stock,
       s.categories_in_stock, s.price_rec_min, s.price_rec_avg, s.price_rec_max
  FROM mv_store_summary s
 WHERE ($1 IS NULL OR s.state = upper($1))
   AND ($2 IS NULL OR s.dispensary_id = $2)
   AND ($3 IS NULL OR EXISTS (SELECT FROM mv_brand_presence b
                               WHERE b.dispensary_id = s.dispensary_id AND b.brand_key = brand_key($3)))
   AND ($4 IS NULL OR s.last_crawl_at >= $4)
   AND ($5 IS NULL OR s.last_crawl_at < $5)
   AND ($6 IS NULL OR s.dispensary_id > $6)
 ORDER BY s.dispensary_id
 LIMIT $7
