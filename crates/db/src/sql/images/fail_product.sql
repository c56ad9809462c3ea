-- images/fail_product.sql: a try that failed. $1 product, $2 address, $3 reason, $4 wait after the first
-- failure, in seconds
INSERT INTO product_image_failures AS f (product_id, image_url, reason, tries, retry_at)
SELECT id, $2, $3, 1, now() + make_interval(secs => $4) FROM store_products WHERE id = $1
    ON CONFLICT (product_id) DO UPDATE
       SET tries = CASE WHEN f.image_url = EXCLUDED.image_url THEN f.tries + 1 ELSE 1 END,
           retry_at = now() + make_interval(secs => $4 * CASE WHEN f.image_url = EXCLUDED.image_url THEN 2 ^ least(f.tries, 10) ELSE 1 END),
           image_url = EXCLUDED.image_url, reason = EXCLUDED.reason, failed_at = now();
