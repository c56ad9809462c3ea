-- workers/order.sql: orders the registered worker $1 to do $2. It obeys with its next heartbeat.
INSERT INTO worker_commands (worker_id, command) SELECT worker_id, $2 FROM worker_registry WHERE worker_id = $1;
