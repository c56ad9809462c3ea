-- products/variant_history/forget.sql: deletes the rows that one crawl wrote about variants, before it writes them
-- again. $id of the payload: column crawl_id
DELETE FROM store_product_variant_history h
 USING unnest($products::bigint[], $labels::text[], $numbers::smallint[]) AS f (store_product_id, option_label, nth)
 WHERE h.store_product_id = f.store_product_id AND h.option_label = f.option_label AND h.nth = f.nth
   AND h.crawl_id = $id AND h.crawled_at = $fetched_at;
