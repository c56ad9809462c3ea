-- product_views/get.sql: one product, with its specials. $1 id
SELECT v.*, product_specials(p) AS specials
  FROM v_products v
  JOIN store_products p ON p.id = v.id
 WHERE v.id = $1;
