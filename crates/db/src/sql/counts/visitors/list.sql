-- counts/visitors/list.sql: requests by hour and place, the latest hour first; a null filters nothing. Planned for its values.
-- $after_…: the last one of the page before
SELECT json_time(v.hour) AS hour, v.country, v.region, v.requests
  FROM visitor_hours v
 WHERE ($from::timestamptz IS NULL OR v.hour >= $from)
   AND ($to::timestamptz IS NULL OR v.hour < $to)
   AND ($country::text IS NULL OR v.country = upper($country))
   AND ($after_hour::timestamptz IS NULL OR v.hour < $after_hour OR (v.hour = $after_hour AND (v.country, v.region) > ($after_country, $after_region)))
 ORDER BY v.hour DESC, v.country, v.region
 LIMIT $limit
