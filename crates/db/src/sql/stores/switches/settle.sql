-- stores/switches/settle.sql: an answer without a mass change came: earlier suspicious ones of the scopes were wrong. $1 kind, $2 scopes
DELETE FROM suspicious_switches WHERE kind = $1 AND scope = ANY ($2::text[]);
