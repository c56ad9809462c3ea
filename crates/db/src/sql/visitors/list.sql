-- visitors/list.sql: requests by hour and place, the latest hour first; a null filters nothing. Planned for
-- its values. $1 from, $2 before, $3 country, $4 to $6 the last one of the page before, $7 rows
SELECT json_time(v.hour) AS hour, v.country, v.region, v.requests
  FROM visitor_hours v
 WHERE ($1 IS NULL OR v.hour >= $1)
   AND ($2 IS NULL OR v.hour < $2)
   AND ($3 IS NULL OR v.country = upper($3))
   AND ($4 IS NULL OR v.hour < $4 OR (v.hour = $4 AND (v.country, v.region) > ($5, $6)))
 ORDER BY v.hour DESC, v.country, v.region
 LIMIT $7
