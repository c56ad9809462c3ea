-- forecast/stores.sql: number of crawlable stores by platform and host.
SELECT platform, api_host, count(*) AS stores
  FROM dispensaries
 WHERE crawl_enabled AND platform_dispensary_id IS NOT NULL
 GROUP BY platform, api_host
