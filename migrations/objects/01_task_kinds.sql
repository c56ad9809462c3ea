-- Kinds of tasks: `migrate` fills task_kinds from the program, which declares each kind once. A task has the family of its kind, and
-- whether its end is an event, from its insert on: indexes and triggers read these columns, and look nothing up. A kind keeps its family
-- for ever.

-- Writes the kinds of a program; those of a newer one stay. A schedule that comes with the rows of a table is made by a trigger of it
-- (75_media.sql).
CREATE OR REPLACE FUNCTION set_task_kinds(kinds jsonb) RETURNS void LANGUAGE plpgsql AS $f$
DECLARE made record;
BEGIN
  INSERT INTO task_kinds (name, family, notifies, account_arg, key_arg)
  SELECT k.name, k.family, k.notifies, k.account_arg, k.key_arg
    FROM jsonb_to_recordset(kinds) AS k(name text, family text, notifies boolean, account_arg text, key_arg text)
  ON CONFLICT (name) DO UPDATE
     SET family = excluded.family, notifies = excluded.notifies, account_arg = excluded.account_arg, key_arg = excluded.key_arg;
  FOR made IN
    SELECT k.name, s.of, s.event, s.condition, s.hours
      FROM jsonb_to_recordset(kinds) AS k(name text, schedules jsonb)
     CROSS JOIN jsonb_to_recordset(k.schedules) AS s(of text, event text, condition text, hours int)
  LOOP
    EXECUTE format('CREATE OR REPLACE TRIGGER add_schedule AFTER %s ON %I FOR EACH ROW %s EXECUTE FUNCTION add_media_schedule(%L, %L)',
                   made.event, made.of, 'WHEN (' || made.condition || ')', made.name, made.hours);
  END LOOP;
END $f$;

-- The roles of these families.
CREATE OR REPLACE FUNCTION roles_of(families text[]) RETURNS text[] LANGUAGE sql STABLE AS $f$
  SELECT coalesce(array_agg(k.name ORDER BY k.name), '{}') FROM task_kinds k WHERE k.family = ANY (families)
$f$;

-- For programs and autoscalers of the release before, which may still run.
CREATE OR REPLACE FUNCTION media_roles() RETURNS text[] LANGUAGE sql STABLE AS $f$
  SELECT roles_of('{media}')
$f$;

CREATE OR REPLACE FUNCTION role_family(role text) RETURNS text LANGUAGE sql STABLE AS $f$
  SELECT coalesce((SELECT nullif(k.family, 'service') FROM task_kinds k WHERE k.name = role), 'crawl')
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
