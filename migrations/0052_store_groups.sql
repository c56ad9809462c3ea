-- Groups of stores by name, so that a schedule may be for one of them. Without an index: the statement that makes a schedule's tasks walks
-- all stores that are crawled, and compares a store's few names as it passes.
ALTER TABLE dispensaries ADD COLUMN groups text[] NOT NULL DEFAULT '{}'
  CHECK (cardinality(groups) <= 20 AND array_position(groups, NULL) IS NULL);

ALTER TABLE task_schedules ADD COLUMN group_name text;
