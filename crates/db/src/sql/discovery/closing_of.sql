-- discovery/closing_of.sql: the crawled stores that an answer covers, by the state in which they were found, and those of
-- them that it would close or does not name. $1 platform, $2 ids that it names, $3 those of them that are closed, $4 states
-- whose every point answered
SELECT l.found_in,
       array_agg(d.id ORDER BY d.id) AS stores,
       coalesce(array_agg(l.platform_dispensary_id) FILTER (WHERE l.platform_dispensary_id = ANY ($3::text[])), '{}') AS closed,
       count(*) FILTER (WHERE l.platform_dispensary_id <> ALL ($2::text[])) AS vanished
  FROM dutchie_discovery_locations l
  JOIN dispensaries d ON d.platform = l.platform AND d.platform_dispensary_id = l.platform_dispensary_id
 WHERE l.platform = $1
   AND d.crawl_enabled AND d.disabled_reason IS NULL
   AND l.vanished_at IS NULL AND l.reason IS NULL
   AND (l.platform_dispensary_id = ANY ($2::text[]) OR l.found_in = ANY ($4::text[]))
 GROUP BY l.found_in
 ORDER BY l.found_in;
