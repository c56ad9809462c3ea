-- The process of a worker, so that a successor on the same machine can tell whether it has ended. Null: unknown.
ALTER TABLE worker_registry
  ADD COLUMN host text,
  ADD COLUMN pid int,
  ADD COLUMN pid_space text;    -- where the process number is unique: a boot of the machine, and a container
