-- stores/lock.sql: nobody else writes a store's products until this transaction ends. $1 store
SELECT last_payload_id, last_payload_at, last_complete_at FROM dispensaries WHERE id = $1 FOR UPDATE;
