-- demo/history/runs_until.sql: real runs are counted from this minute on, and leave the simulated ones alone
INSERT INTO stats_progress (closed_until) VALUES (date_bin('1 minute', now(), timestamptz '2000-01-01 00:00:00Z')) ON CONFLICT DO NOTHING
