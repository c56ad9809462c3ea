-- variant_history/forget.sql: deletes the rows that one crawl wrote about variants, before it writes them
-- again. $1 products, $2 labels, $3 numbers, $4 payload (column crawl_id), $5 when it was fetched
DELETE FROM store_product_variant_history h
 USING unnest($1::bigint[], $2::text[], $3::smallint[]) AS f (store_product_id, option_label, nth)
 WHERE h.store_product_id = f.store_product_id AND h.option_label = f.option_label AND h.nth = f.nth
   AND h.crawl_id = $4 AND h.crawled_at = $5;
