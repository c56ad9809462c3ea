-- workers/pod_names/lock.sql: lets no other process take a name until this transaction ends
LOCK TABLE pod_names IN SHARE ROW EXCLUSIVE MODE
