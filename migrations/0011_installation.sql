-- What tells this database from every other one, wherever it is restored to. Payload files name the database they belong to, so that
-- another one, which knows none of them, does not take them for leftovers.
CREATE TABLE installation (
  id     uuid NOT NULL DEFAULT gen_random_uuid(),
  single boolean PRIMARY KEY DEFAULT true CHECK (single)
);
INSERT INTO installation DEFAULT VALUES;
