-- people/enabled.sql: people whose credits are read. At most $1
SELECT id, tmdb_id FROM people WHERE enabled ORDER BY updated_at, id LIMIT $1
