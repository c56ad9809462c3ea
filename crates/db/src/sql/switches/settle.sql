-- switches/settle.sql: an answer without a mass change came: earlier suspicious ones of the scope were wrong. $1 kind, $2 scope
DELETE FROM suspicious_switches WHERE kind = $1 AND scope = $2;
