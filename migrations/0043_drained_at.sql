-- When a worker of this name last drained. It outlives the process: the tasks that it held until then are not blamed for its end.
ALTER TABLE worker_registry ADD COLUMN drained_at timestamptz;
