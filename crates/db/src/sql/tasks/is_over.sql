-- tasks/is_over.sql: whether no run of a task is to come. $1 id
SELECT NOT EXISTS (SELECT FROM worker_tasks WHERE id = $1 AND status IN ('pending', 'claimed', 'running'))
