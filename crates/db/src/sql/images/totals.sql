-- images/totals.sql: number of images ever stored, and of failed ones by reason
SELECT t.stored, t.bytes,
       coalesce((SELECT json_agg(json_build_object('reason', f.reason, 'images', f.images) ORDER BY f.images DESC, f.reason)
                   FROM (SELECT reason, count(*) AS images
                           FROM (SELECT reason FROM product_image_failures UNION ALL SELECT reason FROM brand_image_failures) x
                          GROUP BY reason) f), '[]') AS failed
  FROM image_totals t;
