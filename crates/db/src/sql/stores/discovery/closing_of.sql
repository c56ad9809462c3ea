-- stores/discovery/closing_of.sql: the crawled stores that an answer covers, by the state in which they were found, and the subset
-- that it would close: they are closed, or not named. A store that it names is covered whatever earlier answers said
-- of it. $ids, $found_in, $is_closed: the stores that it names. $states: those whose every point answered
SELECT coalesce(n.found_in, l.found_in) AS found_in,
       array_agg(d.id ORDER BY d.id) AS stores,
       coalesce(array_agg(d.id ORDER BY d.id) FILTER (WHERE n.id IS NULL OR n.is_closed), '{}') AS closing,
       coalesce(array_agg(n.id) FILTER (WHERE n.is_closed), '{}') AS closed
  FROM dispensaries d
  LEFT JOIN unnest($ids::text[], $found_in::text[], $is_closed::bool[]) AS n(id, found_in, is_closed) ON n.id = d.platform_dispensary_id
  LEFT JOIN found_stores l ON l.platform = d.platform AND l.platform_dispensary_id = d.platform_dispensary_id
 WHERE d.platform = $platform
   AND d.crawl_enabled AND d.disabled_reason IS NULL
   AND (n.id IS NOT NULL OR l.found_in = ANY ($states::text[]))
 GROUP BY 1
 ORDER BY 1;
