-- products/search/scan.sql: the same products as walk.sql, for filters that leave so few that a walk finds too few of
-- them: sorts all that are left.
{products/search/listed.sql}
SELECT v.*, l.price_before, l.price_changed_ms, l.sort_number, l.sort_text, false AS of_many
  FROM (SELECT *
          -- OFFSET 0: not by an index of the order, as a walk
          FROM (SELECT * FROM listed WHERE is_wanted OFFSET 0) l
         WHERE ($after_number::bigint IS NULL OR (sort_number, sort_text, product_id) > ($after_number, $after_text, $after_id))
         ORDER BY sort_number, sort_text, product_id
         LIMIT $limit) l
  JOIN v_products v ON v.id = l.product_id
 ORDER BY l.sort_number, l.sort_text, l.product_id
