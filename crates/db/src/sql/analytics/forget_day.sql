-- analytics/forget_day.sql: deletes a day that is to be written again, for the stores that were crawled on
-- it. $1 day
DELETE FROM price_days t
 USING (SELECT DISTINCT p.dispensary_id
          FROM raw_crawl_payloads p
         WHERE p.fetched_at >= $1::date::timestamp AT TIME ZONE 'UTC'
           AND p.fetched_at < ($1::date + 1)::timestamp AT TIME ZONE 'UTC') c
 WHERE t.dispensary_id = c.dispensary_id
   AND t.day = $1::date;
