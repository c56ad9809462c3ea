-- Tasks that were lost twice are claimed by another order than the rest: who took the fewest processes with it comes first.
CREATE INDEX idx_worker_tasks_suspects ON worker_tasks (crash_count, priority DESC, id)
  WHERE status = 'pending' AND ready AND loss_count >= 2;
