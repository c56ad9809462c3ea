-- A slot that was made already must not stay due, and keeps what it made. $1 schedule, $2 its slot, $3 the next slot
WITH onwards AS (
  UPDATE task_schedules SET next_run_at = $3 WHERE id = $1
)
SELECT task_count FROM schedule_runs WHERE schedule_id = $1 AND due_at = $2
