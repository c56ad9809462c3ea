-- The oldest running operation that no other process works on; locked until the batch is committed.
SELECT id, action, filter, change, below FROM operations WHERE state = 'running' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED
