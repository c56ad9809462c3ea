-- media/saved_searches/postpone.sql: puts a search behind the others. $1 id
UPDATE saved_searches SET updated_at = now() WHERE id = $1
