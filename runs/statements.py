"""The SQL statements for the tables of LangGraph's saver."""

THREADS_OF = (
    "SELECT DISTINCT thread_id FROM checkpoints WHERE json_extract(CAST(metadata AS TEXT), "
    "'$.run_id') IN (SELECT value FROM json_each(?))"
)

OF_RUNS = (
    "DELETE FROM writes WHERE (thread_id, checkpoint_ns, checkpoint_id) IN (SELECT thread_id, "
    "checkpoint_ns, checkpoint_id FROM checkpoints WHERE json_extract(CAST(metadata AS TEXT), "
    "'$.run_id') IN (SELECT value FROM json_each(?)))",
    "DELETE FROM checkpoints WHERE json_extract(CAST(metadata AS TEXT), '$.run_id') "
    "IN (SELECT value FROM json_each(?))",
)

COPY = (
    "INSERT OR REPLACE INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, "
    "parent_checkpoint_id, type, checkpoint, metadata) SELECT ?, checkpoint_ns, checkpoint_id, "
    "parent_checkpoint_id, type, checkpoint, metadata FROM checkpoints WHERE thread_id = ?",
    "INSERT OR REPLACE INTO writes (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, "
    "idx, channel, type, value) SELECT ?, checkpoint_ns, checkpoint_id, task_id, task_path, "
    "idx, channel, type, value FROM writes WHERE thread_id = ?",
    "INSERT OR REPLACE INTO blobs (thread_id, digest, type, value, erased) SELECT ?, digest, type, "
    "value, erased FROM blobs WHERE thread_id = ?",
)

PRUNE = (
    "DELETE FROM checkpoints WHERE thread_id = ?1 AND checkpoint_id NOT IN (SELECT "
    "MAX(newest.checkpoint_id) FROM checkpoints AS newest WHERE newest.thread_id = ?1 "
    "AND newest.checkpoint_ns = checkpoints.checkpoint_ns)",
    "DELETE FROM writes WHERE thread_id = ?1 AND NOT EXISTS (SELECT 1 FROM checkpoints AS kept "
    "WHERE kept.thread_id = ?1 AND kept.checkpoint_ns = writes.checkpoint_ns "
    "AND kept.checkpoint_id = writes.checkpoint_id)",
)

FORGET = (
    "DELETE FROM checkpoints WHERE thread_id = ?",
    "DELETE FROM writes WHERE thread_id = ?",
    "DELETE FROM blobs WHERE thread_id = ?",
)

SAVE = (
    "INSERT OR REPLACE INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, "
    "parent_checkpoint_id, type, checkpoint, metadata) VALUES (?, ?, ?, ?, ?, ?, ?)"
)

BRANCHES = (
    "DELETE FROM checkpoints WHERE thread_id = ? AND checkpoint_ns > '' AND checkpoint_id < ?",
    "DELETE FROM writes WHERE thread_id = ? AND checkpoint_ns > '' AND checkpoint_id < ?",
)
"""Delete what the branches of a thread saved before a checkpoint of the whole graph."""

NEWEST = "SELECT MAX(checkpoint_id) FROM checkpoints WHERE thread_id = ?"

HAS_BRANCHES = "SELECT 1 FROM checkpoints WHERE thread_id = ? AND checkpoint_ns > '' LIMIT 1"
