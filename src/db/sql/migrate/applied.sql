SELECT version, name, checksum, applied_at FROM schema_migrations ORDER BY version
