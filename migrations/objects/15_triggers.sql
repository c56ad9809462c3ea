-- The triggers, apart from their functions: replacing a trigger locks its table against writers, replacing a function locks nothing.
-- task_schedules comes first: a transaction that makes tasks by a schedule locks that table's row before worker_tasks.

DROP TRIGGER IF EXISTS guard_role ON task_schedules;
CREATE OR REPLACE TRIGGER guard_schedule BEFORE INSERT OR UPDATE OF name, role, state_code, interval_hours, cron, time_zone ON task_schedules
  FOR EACH ROW EXECUTE FUNCTION task_schedules_guard();

CREATE OR REPLACE TRIGGER guard_insert BEFORE INSERT ON worker_tasks FOR EACH ROW
  WHEN (current_setting('xmlbinary') <> 'hex')
  EXECUTE FUNCTION worker_tasks_guard_insert();

CREATE OR REPLACE TRIGGER take_reservations AFTER INSERT ON worker_tasks REFERENCING NEW TABLE AS made FOR EACH STATEMENT
  WHEN (current_setting('xmlbinary') <> 'hex')
  EXECUTE FUNCTION worker_tasks_take_reservations();

CREATE OR REPLACE TRIGGER guard_status BEFORE UPDATE OF status ON worker_tasks FOR EACH ROW
  WHEN (NEW.status IS DISTINCT FROM OLD.status
        AND NOT (OLD.status = 'pending' AND NEW.status = 'claimed' AND NEW.fence > OLD.fence AND NOT NEW.ready AND NOT NEW.blocked
                 AND NEW.worker_id IS NOT NULL)   -- a claim: comparing its columns is cheaper than reading the setting
        AND current_setting('xmlbinary') <> 'hex')
  EXECUTE FUNCTION worker_tasks_guard_status();

CREATE OR REPLACE TRIGGER cancel_children AFTER UPDATE OF status ON worker_tasks FOR EACH ROW
  WHEN (NEW.status = 'cancelled' AND OLD.awaits_children AND OLD.status <> 'cancelled' AND current_setting('xmlbinary') <> 'hex')
  EXECUTE FUNCTION worker_tasks_cancel_children();

-- After guard_insert, which puts a former role's present name.
CREATE OR REPLACE TRIGGER set_kind BEFORE INSERT ON worker_tasks FOR EACH ROW
  WHEN (NEW.family IS NULL)
  EXECUTE FUNCTION worker_tasks_set_kind();

CREATE OR REPLACE TRIGGER set_kind_of_role BEFORE UPDATE OF role ON worker_tasks FOR EACH ROW
  WHEN (NEW.role IS DISTINCT FROM OLD.role)
  EXECUTE FUNCTION worker_tasks_set_kind();

CREATE OR REPLACE TRIGGER notify_end AFTER UPDATE OF status ON worker_tasks FOR EACH ROW
  WHEN (NEW.status IN ('completed', 'failed') AND OLD.status IS DISTINCT FROM NEW.status AND NEW.family = 'media' AND NEW.notifies)
  EXECUTE FUNCTION worker_tasks_notify();

CREATE OR REPLACE TRIGGER note_failure AFTER UPDATE OF status ON worker_tasks FOR EACH ROW
  WHEN (NEW.status = 'failed' AND OLD.status IS DISTINCT FROM NEW.status AND NEW.family = 'crawl' AND NEW.notifies)
  EXECUTE FUNCTION worker_tasks_note_failure();

CREATE OR REPLACE TRIGGER note_finding AFTER INSERT ON quality_findings FOR EACH ROW EXECUTE FUNCTION quality_findings_note();

CREATE OR REPLACE TRIGGER guard_pending BEFORE UPDATE OF scheduled_for, dispensary_id, ready, role, priority ON worker_tasks FOR EACH ROW
  WHEN (OLD.status = 'pending' AND NEW.status = 'pending' AND current_setting('xmlbinary') <> 'hex')
  EXECUTE FUNCTION worker_tasks_guard_pending();

CREATE OR REPLACE TRIGGER guard_dependencies BEFORE UPDATE OF depends_on ON worker_tasks FOR EACH ROW
  WHEN (NEW.status = 'pending' AND NEW.depends_on IS DISTINCT FROM OLD.depends_on
        AND current_setting('xmlbinary') <> 'hex')
  EXECUTE FUNCTION worker_tasks_guard_dependencies();

CREATE OR REPLACE TRIGGER forget_attempts AFTER DELETE ON worker_tasks REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION worker_tasks_forget_attempts();

CREATE OR REPLACE TRIGGER keep_name AFTER DELETE ON worker_registry REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION worker_registry_keep_names();

CREATE OR REPLACE TRIGGER guard_off BEFORE UPDATE OF crawl_enabled ON dispensaries FOR EACH ROW
  WHEN (OLD.crawl_enabled AND NOT NEW.crawl_enabled AND NEW.disabled_reason IS NOT DISTINCT FROM OLD.disabled_reason)
  EXECUTE FUNCTION dispensaries_guard_off();

CREATE OR REPLACE TRIGGER fill_menu_key BEFORE INSERT OR UPDATE OF menu_url ON dispensaries FOR EACH ROW
  EXECUTE FUNCTION dispensaries_fill_menu_key();

CREATE OR REPLACE TRIGGER keep_former_slugs AFTER UPDATE OF slug, menu_url ON dispensaries FOR EACH ROW
  WHEN (OLD.slug IS DISTINCT FROM NEW.slug OR OLD.menu_url IS DISTINCT FROM NEW.menu_url)
  EXECUTE FUNCTION dispensaries_keep_former_slugs();

CREATE OR REPLACE TRIGGER forget_products AFTER DELETE ON dispensaries REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION dispensaries_forget_products();

CREATE OR REPLACE TRIGGER forget_variants AFTER DELETE ON store_products REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION store_products_forget_variants();

CREATE OR REPLACE TRIGGER enabled BEFORE UPDATE OF enabled ON notification_endpoints FOR EACH ROW
  WHEN (NEW.enabled AND NOT OLD.enabled)
  EXECUTE FUNCTION notification_endpoints_enabled();
