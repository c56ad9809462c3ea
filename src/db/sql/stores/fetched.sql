-- stores/fetched.sql: $1 store
UPDATE dispensaries SET last_fetch_at = now(), updated_at = now() WHERE id = $1;
