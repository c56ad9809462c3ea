-- workers/deregister.sql: removes workers. $1 their ids
DELETE FROM worker_registry WHERE worker_id = ANY ($1)
