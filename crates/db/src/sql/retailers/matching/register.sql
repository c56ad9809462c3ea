-- retailers/matching/register.sql: the licences of the imported registers; at most $1.
SELECT state, licence, name, address, city, zip FROM licence_register ORDER BY state, licence LIMIT $1;
