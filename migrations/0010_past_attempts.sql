-- A task's row tells its latest run itself; an attempt becomes a row of its own only when the next run would write over it. So a
-- task that ends at its first run, as nearly all do, is written twice and not four times. `task_attempts` is a view of both now.
LOCK TABLE worker_tasks, task_attempts;   -- in the order in which everybody takes them
ALTER TABLE task_attempts RENAME TO past_attempts;
ALTER TABLE past_attempts RENAME CONSTRAINT task_attempts_pkey TO past_attempts_pkey;
ALTER TABLE past_attempts RENAME CONSTRAINT task_attempts_outcome_check TO past_attempts_outcome_check;
ALTER TABLE past_attempts RESET (fillfactor);   -- written once
ALTER INDEX task_attempts_claimed RENAME TO past_attempts_claimed;

ALTER TABLE worker_tasks ADD COLUMN detail jsonb;   -- of the latest run: {proxy_ids, fingerprint, requests, blocks}
UPDATE worker_tasks t SET detail = a.detail
  FROM past_attempts a WHERE a.task_id = t.id AND a.fence = t.fence AND t.claimed_at IS NOT NULL AND a.detail IS NOT NULL;
DELETE FROM past_attempts a USING worker_tasks t WHERE a.task_id = t.id AND a.fence = t.fence AND t.claimed_at IS NOT NULL;

-- A task is made, claimed and ended: where all three versions fit into the page that it began on, each change of it writes less of
-- the log and dirties no other page. The table is larger for it, and read by its indexes.
ALTER TABLE worker_tasks SET (fillfactor = 40);

-- Waiting tasks by id, of whatever kind: few among millions of ended ones. Neither a claim nor a completion writes it.
CREATE INDEX worker_tasks_waiting ON worker_tasks (id) INCLUDE (role, ready) WHERE status = 'pending';
