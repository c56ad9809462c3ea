-- A task may wait for tasks that its run has made or found, its children, and then runs again.

-- True: depends_on are the children of the task's last run that ended as waiting, and its next run sums them up. A retry of the ended task
-- clears both.
ALTER TABLE worker_tasks ADD COLUMN awaits_children boolean NOT NULL DEFAULT false;

-- One word more. NOT VALID: the rows that are there obey the stricter list already, and reading them all would keep the queue waiting.
ALTER TABLE past_attempts DROP CONSTRAINT past_attempts_outcome_check;
ALTER TABLE past_attempts ADD CONSTRAINT past_attempts_outcome_check
  CHECK (outcome IN ('completed', 'failed', 'lost', 'released', 'cancelled', 'snoozed', 'waiting')) NOT VALID;
