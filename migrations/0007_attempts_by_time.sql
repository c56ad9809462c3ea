-- Who follows what is going on asks for the runs that have just begun. A BRIN index costs the claim next to nothing.

CREATE INDEX task_attempts_claimed ON task_attempts USING brin (claimed_at) WITH (pages_per_range = 16, autosummarize = on);
