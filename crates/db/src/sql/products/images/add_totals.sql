-- products/images/add_totals.sql: images that were downloaded and stored. $1 how many, $2 bytes as downloaded
UPDATE image_totals SET stored = stored + $1, bytes = bytes + $2;
