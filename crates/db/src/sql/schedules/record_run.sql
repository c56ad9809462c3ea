-- One due time makes one generation: no row back = another process made it. $1 schedule, $2 due time
INSERT INTO schedule_runs (schedule_id, due_at)
VALUES ($1, $2)
ON CONFLICT DO NOTHING
RETURNING due_at
