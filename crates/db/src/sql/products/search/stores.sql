-- products/search/stores.sql: the stores whose products are searched; a null filters nothing.
SELECT id
  FROM dispensaries
 WHERE ($state::text IS NULL OR state = upper($state))
   AND ($city::text IS NULL OR lower(btrim(city)) = lower(btrim($city)))
   AND ($platform::text IS NULL OR platform = $platform)
   AND ($group::text IS NULL OR $group = ANY (groups))
   AND ($store::bigint IS NULL OR id = $store)
 ORDER BY id
 LIMIT $limit;
