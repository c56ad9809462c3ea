-- people/postpone.sql: puts a person behind the others. $1 id
UPDATE people SET updated_at = now() WHERE id = $1
