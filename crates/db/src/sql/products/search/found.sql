-- products/search/found.sql: the end of by_words.sql, by_corrections.sql and by_trigrams.sql: their products
-- in the requested order.
SELECT v.*, l.price_before, l.price_changed_ms, l.sort_number, l.sort_text, l.of_many
  FROM (SELECT *
          FROM (SELECT l.product_id, l.price_before, l.price_changed_ms, l.sort_text, f.of_many,
                       CASE $sort WHEN 'relevance' THEN -f.score ELSE l.sort_number END AS sort_number
                  FROM (SELECT *, count(*) OVER () >= $max_scanned AS of_many FROM found) f
                       -- LIMIT: by the key, for each one; no plan reads the listing whole for their sake
                  JOIN LATERAL (SELECT * FROM listed l WHERE l.product_id = f.product_id LIMIT 1) l ON l.is_wanted) l
         WHERE ($after_number::bigint IS NULL OR (l.sort_number, l.sort_text, l.product_id) > ($after_number, $after_text, $after_id))
         ORDER BY l.sort_number, l.sort_text, l.product_id
         LIMIT $limit) l
  JOIN v_products v ON v.id = l.product_id
 ORDER BY l.sort_number, l.sort_text, l.product_id
