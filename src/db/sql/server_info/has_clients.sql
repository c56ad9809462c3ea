SELECT EXISTS (
  SELECT FROM pg_stat_activity
   WHERE backend_type = 'client backend' AND application_name <> 'drover-hold'
)
