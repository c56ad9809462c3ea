-- media_items/get.sql: items by their ids. $1 ids
SELECT id, source, kind, url, referer, state FROM media_items WHERE id = ANY ($1) ORDER BY id
