-- product_search/by_trigrams.sql: products whose brand and name are spelled alike, the most alike first; a null filters nothing. Planned for its
-- values. $1 what is looked for, $2 state, $3 category, $4 in stock, $5 on special, $6 and $7 lowest and highest price, $8 brand, $9 and $10
-- score and id of the last one of the page before, $11 rows, $12 products that are looked at, at most
WITH found AS MATERIALIZED (
  SELECT s.product_id, ((word_similarity(lower($1), s.text) + similarity(lower($1), s.text)) * 500000)::bigint AS score
    FROM product_search s
   WHERE lower($1) <% s.text
     AND ($2 IS NULL OR s.dispensary_id IN (SELECT id FROM dispensaries WHERE state = upper($2)))
     AND ($3 IS NULL OR s.category = lower(btrim($3)))
     AND ($8 IS NULL OR starts_with(s.text, lower(btrim($8))))
   LIMIT $12
)
SELECT p.id, p.dispensary_id, d.name AS dispensary_name, d.city, d.state, p.provider, p.provider_product_id, p.enterprise_product_id,
       p.name_raw, p.brand_name_raw, p.category, p.subcategory, p.strain_type, o.price, p.price_rec, p.price_med, p.special_price_rec,
       p.special_price_med, p.is_on_special, p.thc_min, p.thc_max, p.thc_unit, p.cbd_min, p.cbd_max, p.cbd_unit, p.quantity,
       p.quantity_censored, p.is_in_stock, p.stock_status, p.upstream_status, p.consecutive_misses, p.image_url, p.brand_image_url,
       p.local_image_path,
       json_time(p.first_seen_at) AS first_seen_at,
       json_time(p.last_seen_at) AS last_seen_at,
       json_time(d.last_complete_at) AS last_complete_at,
       json_time(p.updated_at) AS updated_at,
       -f.score AS sort_number, 'alike' AS sort_text, f.of_many
  FROM (SELECT product_id, score, count(*) OVER () >= $12 AS of_many FROM found) f
  JOIN store_products p ON p.id = f.product_id
  JOIN dispensaries d ON d.id = p.dispensary_id
 CROSS JOIN LATERAL (SELECT coalesce(least(p.price_rec, p.special_price_rec), least(p.price_med, p.special_price_med)) AS price) o
 WHERE ($4 IS NULL OR p.is_in_stock = $4)
   AND ($5 IS NULL OR p.is_on_special = $5)
   AND ($6 IS NULL OR o.price >= $6)
   AND ($7 IS NULL OR o.price <= $7)
   AND ($9 IS NULL OR (-f.score, p.id) > ($9, $10))
 ORDER BY -f.score, p.id
 LIMIT $11
