-- schedules/forecast/stores.sql: crawlable stores by platform and host: their number, and how many of them are paused themselves.
SELECT platform, api_host, count(*) AS stores, count(*) FILTER (WHERE id IN (SELECT dispensary_id FROM paused_stores)) AS paused
  FROM dispensaries
 WHERE crawl_enabled AND platform_dispensary_id IS NOT NULL
 GROUP BY platform, api_host
