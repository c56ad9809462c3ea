-- Values that platforms change without notice: hashes of persisted queries, whose name is their operation, and keys, whose name is `key`.
-- The value of a key is its digest; the key itself is sealed with secrets.key, or only in the memory of the process that read it.

ALTER TABLE query_hashes RENAME TO rotating_values;
ALTER INDEX query_hashes_pkey RENAME TO rotating_values_pkey;
ALTER TABLE rotating_values RENAME COLUMN operation TO name;
ALTER TABLE rotating_values RENAME COLUMN hash TO value;
ALTER TABLE rotating_values RENAME COLUMN host_pattern TO endpoint;
ALTER TABLE rotating_values RENAME COLUMN first_ok TO first_success_at;
ALTER TABLE rotating_values RENAME COLUMN last_ok TO last_success_at;
ALTER TABLE rotating_values RENAME COLUMN last_not_found TO last_refusal_at;
ALTER TABLE rotating_values ADD COLUMN sealed text;

-- Processes of the release before write and read hashes under these names.
CREATE VIEW query_hashes AS
SELECT platform, name AS operation, value AS hash, endpoint AS host_pattern, added_at, first_success_at AS first_ok,
       last_success_at AS last_ok, last_refusal_at AS last_not_found
  FROM rotating_values
 WHERE name <> 'key';

-- Reads of a platform's key from a page of a menu: the last one of each platform, and the time of the next one.
CREATE TABLE key_reads (
  platform       text PRIMARY KEY,
  begun_at       timestamptz NOT NULL,
  next_read_at   timestamptz NOT NULL,
  -- The store whose page it is; it may have been deleted since.
  dispensary_id  bigint,
  -- Null while it is under way, and after its process has died.
  ended_at       timestamptz,
  -- Why it gave no key; null where it gave one.
  failure        text
);
