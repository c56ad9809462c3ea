-- workers/live_pods.sql: the pods of workers that are not offline.
SELECT DISTINCT pod FROM worker_registry WHERE status <> 'offline'
