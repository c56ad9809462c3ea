-- product_search/walk.sql: continues listed.sql. Products in the order of an index, from the end of the page
-- before, up to $13.
SELECT v.*, l.price_before, l.price_changed_ms, l.sort_number, l.sort_text, false AS of_many
  FROM (SELECT *
          FROM (SELECT *
                  FROM listed
                 WHERE ($9 IS NULL OR $8 = 'name' OR (sort_number, product_id) > ($9, $11))
                   AND ($9 IS NULL OR $8 <> 'name' OR (sort_text, product_id) > ($10, $11))
                 ORDER BY sort_number, sort_text, product_id
                 LIMIT $13) l
         WHERE l.is_wanted
         LIMIT $12) l
  JOIN v_products v ON v.id = l.product_id
 ORDER BY l.sort_number, l.sort_text, l.product_id
