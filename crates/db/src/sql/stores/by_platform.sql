-- stores/by_platform.sql: number of stores of each platform, and number of its enabled stores
SELECT platform, count(*) AS stores, count(*) FILTER (WHERE crawl_enabled) AS enabled
  FROM dispensaries
 GROUP BY platform
 ORDER BY platform;
