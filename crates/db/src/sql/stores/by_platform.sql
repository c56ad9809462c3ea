-- stores/by_platform.sql: the number of stores of each platform, and of those that are crawled.
SELECT platform, count(*) AS stores, count(*) FILTER (WHERE crawl_enabled) AS enabled
  FROM dispensaries
 GROUP BY platform
 ORDER BY platform;
