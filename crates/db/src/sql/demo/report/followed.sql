-- demo/report/followed.sql: platform ids of the stores whose crawls since $1 are compared with an earlier one.
SELECT d.platform_dispensary_id
  FROM dispensaries d
 WHERE d.platform_dispensary_id IS NOT NULL
   AND EXISTS (SELECT FROM change_batches b WHERE b.dispensary_id = d.id AND b.crawled_at < $1);
