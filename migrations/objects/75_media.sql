-- Schedules of media jobs come with the rows that they are for, so that what watches nothing is never due. A schedule that is there stays
-- as it is: an operator may have changed it.

-- Adds the schedule of a role, named like it. Arguments of the trigger, which `migrate` makes as the role's kind asks: role, hours.
CREATE OR REPLACE FUNCTION add_media_schedule() RETURNS trigger LANGUAGE plpgsql AS $f$
BEGIN
  INSERT INTO task_schedules (name, role, interval_hours, priority, next_run_at)
  VALUES (TG_ARGV[0], TG_ARGV[0], TG_ARGV[1]::numeric, 3, now())
  ON CONFLICT (name) DO NOTHING;
  RETURN NULL;
END $f$;

-- Keeps the schedule of an account, which scrapes it at its own interval; an account without an interval has none.
CREATE OR REPLACE FUNCTION keep_account_schedule() RETURNS trigger LANGUAGE plpgsql AS $f$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    IF (OLD.platform, OLD.username, OLD.interval_hours, OLD.enabled) IS NOT DISTINCT FROM
       (NEW.platform, NEW.username, NEW.interval_hours, NEW.enabled) THEN RETURN NULL; END IF;
  END IF;
  IF TG_OP = 'DELETE' THEN
    DELETE FROM task_schedules WHERE name = 'scrape_account ' || OLD.id;
  ELSIF NEW.interval_hours IS NULL THEN
    DELETE FROM task_schedules WHERE name = 'scrape_account ' || NEW.id;
  ELSE
    INSERT INTO task_schedules AS s (name, role, platform, account, interval_hours, priority, enabled, next_run_at)
    VALUES ('scrape_account ' || NEW.id, 'scrape_account', NEW.platform, NEW.username, NEW.interval_hours, 3, NEW.enabled, now())
    ON CONFLICT (name) DO UPDATE
       SET platform = excluded.platform, account = excluded.account, interval_hours = excluded.interval_hours, cron = NULL,
           enabled = CASE WHEN TG_OP = 'UPDATE' AND OLD.enabled = NEW.enabled THEN s.enabled ELSE excluded.enabled END,
           version = s.version + 1, updated_at = now();
  END IF;
  RETURN NULL;
END $f$;

CREATE OR REPLACE TRIGGER keep_schedule AFTER INSERT OR DELETE OR UPDATE OF platform, username, interval_hours, enabled ON media_accounts
  FOR EACH ROW EXECUTE FUNCTION keep_account_schedule();
