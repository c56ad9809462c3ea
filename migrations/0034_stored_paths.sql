-- Paths of images that came from the older system begin with its storage root; from now on a trigger takes it away. A payload's path could
-- not be written with it.
UPDATE store_products SET local_image_path = regexp_replace(local_image_path, '^/+(storage/+)?', '') WHERE local_image_path LIKE '/%';
UPDATE brands SET local_image_path = regexp_replace(local_image_path, '^/+(storage/+)?', '') WHERE local_image_path LIKE '/%';
