-- Operations that ended more than $1 seconds ago.
DELETE FROM operations WHERE ended_at < now() - make_interval(secs => $1)
