-- tasks/await_children.sql: ends a run whose task waits for children.
SELECT await_children($id, $fence, $worker, $children, $detail);
