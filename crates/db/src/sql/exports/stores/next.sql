-- exports/stores/next.sql: the next stores by id; a null filters nothing. $product: the store of this product.
SELECT d.id AS store_id
  FROM dispensaries d
 WHERE d.id > $after
   AND ($store::bigint IS NULL OR d.id = $store)
   AND ($product::bigint IS NULL OR d.id = (SELECT p.dispensary_id FROM store_products p WHERE p.id = $product))
   AND ($group::text IS NULL OR $group = ANY (d.groups))
   AND ($state::text IS NULL OR d.state = upper($state))
   AND ($city::text IS NULL OR lower(btrim(d.city)) = lower(btrim($city)))
   AND ($platform::text IS NULL OR d.platform = $platform)
 ORDER BY d.id
 LIMIT $limit
