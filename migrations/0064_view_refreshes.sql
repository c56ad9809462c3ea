-- When each materialized view was refreshed last: a time in its rows would make every refresh write all of them anew.
CREATE TABLE view_refreshes (
  name         text PRIMARY KEY,
  refreshed_at timestamptz NOT NULL
);
