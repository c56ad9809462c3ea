-- workers/mark_taken.sql: marks commands as delivered. $1 their ids
UPDATE worker_commands SET taken_at = now() WHERE id = ANY ($1)
