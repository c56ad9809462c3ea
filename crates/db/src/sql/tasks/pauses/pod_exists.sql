-- True if a worker of this pod is registered.
SELECT EXISTS (SELECT FROM worker_registry WHERE pod = $1)
