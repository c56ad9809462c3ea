-- The workers that are not offline, with their processes.
SELECT worker_id, pod, host, pid, pid_space FROM worker_registry WHERE status <> 'offline' ORDER BY worker_id
