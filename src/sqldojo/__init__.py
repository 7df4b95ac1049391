"""sqldojo: a small language model learns to answer questions about SQLite databases, and is scored honestly."""
