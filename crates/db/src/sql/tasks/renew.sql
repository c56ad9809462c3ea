-- tasks/renew.sql: renews the leases of one process.
SELECT renew_tasks($ids, $fences, $workers, $beat_ages, make_interval(secs => $lease));
