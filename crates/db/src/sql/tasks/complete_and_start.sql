-- tasks/complete_and_start.sql: completes a run, and starts the next task of its store.
SELECT complete_and_start($id, $fence, $worker, $settlement, $next, make_interval(secs => $lease));
