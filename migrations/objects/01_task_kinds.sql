-- Kinds of tasks: `migrate` fills task_kinds from the program, which declares each kind once. A task has the family of its kind, and
-- whether its end is an event, from its insert on: indexes and triggers read these columns, and look nothing up. A kind keeps its family
-- for ever.

-- The roles of these families.
CREATE OR REPLACE FUNCTION roles_of(families text[]) RETURNS text[] LANGUAGE sql STABLE AS $f$
  SELECT coalesce(array_agg(k.name ORDER BY k.name), '{}') FROM task_kinds k WHERE k.family = ANY (families)
$f$;

-- For programs of the release before, which may still run.
CREATE OR REPLACE FUNCTION media_roles() RETURNS text[] LANGUAGE sql STABLE AS $f$
  SELECT roles_of('{media}')
$f$;

-- Gives a task what its kind says. drover's own functions insert complete rows.
CREATE OR REPLACE FUNCTION worker_tasks_set_kind() RETURNS trigger LANGUAGE plpgsql AS $f$
BEGIN
  SELECT k.family, k.notifies INTO NEW.family, NEW.notifies FROM task_kinds k WHERE k.name = NEW.role;
  IF NOT FOUND THEN
    RAISE check_violation USING MESSAGE = format('unknown role %s: the roles are %s', coalesce(NEW.role, 'null'),
                                                 (SELECT string_agg(k.name, ', ' ORDER BY k.name) FROM task_kinds k)),
                                CONSTRAINT = 'worker_tasks_role_check';
  END IF;
  RETURN NEW;
END $f$;
