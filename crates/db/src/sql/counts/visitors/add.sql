-- counts/visitors/add.sql: counts requests of this hour, and deletes old counts. $1 countries, $2 regions, $3
-- requests
WITH forgotten AS (
  DELETE FROM visitor_hours WHERE hour < now() - interval '400 days'
)
INSERT INTO visitor_hours AS v (hour, country, region, requests)
SELECT date_trunc('hour', now(), 'UTC'), n.country, n.region, n.requests
  FROM unnest($1::text[], $2::text[], $3::bigint[]) AS n (country, region, requests)
 ORDER BY n.country, n.region
    ON CONFLICT (hour, country, region) DO UPDATE SET requests = v.requests + excluded.requests;
