-- The first $2 stores whose slugs begin with $1.
SELECT id FROM dispensaries WHERE starts_with(slug, $1) ORDER BY id LIMIT $2
