-- Names of pods that processes have taken while they start: their workers may not be in the registry yet.

CREATE TABLE pod_names (
  name      text PRIMARY KEY,
  host      text NOT NULL,
  pid       int NOT NULL,
  pid_space text,                    -- null: unknown to the system
  until     timestamptz NOT NULL     -- afterwards the registry alone says whether the name is in use
);
