-- tasks/settle.sql: ends a run.
SELECT settle_task($id, $fence, $worker, $settlement);
