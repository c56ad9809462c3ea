-- hosts/list.sql: hosts as they are at this time, by name, after $1. $2 whether their breakers are not closed;
-- NULL filters nothing. At most $3.
SELECT host, to_jsonb(h) AS state, clock_timestamp() AS now
  FROM hosts h
 WHERE ($1::text IS NULL OR host > $1)
   AND ($2::bool IS NULL OR (breaker <> 'closed') = $2)
 ORDER BY host
 LIMIT $3
