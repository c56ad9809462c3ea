-- retailers/proposals.sql: pairs of stores that may be one retailer, the strongest first; after the rank $1, at most $2.
SELECT p.rank, p.evidence, s.stores
  FROM retailer_proposals p
 CROSS JOIN LATERAL (
       SELECT json_agg(json_build_object(
                'id', d.id, 'name', d.name, 'platform', d.platform, 'address', d.address, 'city', d.city, 'state', d.state,
                'is_recreational', d.is_recreational, 'is_medical', d.is_medical, 'crawl_enabled', d.crawl_enabled,
                'retailer_id', d.retailer_id) ORDER BY d.id) AS stores
         FROM dispensaries d
        WHERE d.id IN (p.one, p.other)) s
 WHERE p.rank > $1
 ORDER BY p.rank
 LIMIT $2;
