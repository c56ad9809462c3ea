-- products/search/walk.sql: products in the order of an index, from the end of the page before, up to $max_scanned.
{products/search/listed.sql}
SELECT v.*, l.price_before, l.price_changed_ms, l.sort_number, l.sort_text, false AS of_many
  FROM (SELECT *
          FROM (SELECT *
                  FROM listed
                 WHERE ($after_number::bigint IS NULL OR $sort = 'name' OR (sort_number, product_id) > ($after_number, $after_id))
                   AND ($after_number IS NULL OR $sort <> 'name' OR (sort_text, product_id) > ($after_text, $after_id))
                 ORDER BY sort_number, sort_text, product_id
                 LIMIT $max_scanned) l
         WHERE l.is_wanted
         LIMIT $limit) l
  JOIN v_products v ON v.id = l.product_id
 ORDER BY l.sort_number, l.sort_text, l.product_id
