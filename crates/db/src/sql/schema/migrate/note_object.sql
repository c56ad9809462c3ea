INSERT INTO schema_objects (name, checksum, revision)
VALUES ($1, $2, $3)
ON CONFLICT (name) DO UPDATE SET checksum = excluded.checksum, revision = excluded.revision, applied_at = now()
