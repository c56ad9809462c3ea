-- retailers/list.sql: retailers by id, with their stores; $q is part of a name, in any letter case.
SELECT r.id, r.name, r.state, s.stores
  FROM retailers r
 CROSS JOIN LATERAL (
       SELECT coalesce(json_agg(json_build_object(
                'id', d.id, 'name', d.name, 'platform', d.platform, 'address', d.address, 'city', d.city, 'state', d.state,
                'is_recreational', d.is_recreational, 'is_medical', d.is_medical, 'crawl_enabled', d.crawl_enabled,
                'retailer_id', d.retailer_id) ORDER BY d.platform, d.id), '[]') AS stores
         FROM dispensaries d
        WHERE d.retailer_id = r.id) s
 WHERE r.id > $after::bigint
   AND ($id::bigint IS NULL OR r.id = $id)
   AND ($state::text IS NULL OR r.state = $state)
   AND ($q::text IS NULL OR strpos(lower(r.name), lower($q)) > 0)
 ORDER BY r.id
 LIMIT $limit;
