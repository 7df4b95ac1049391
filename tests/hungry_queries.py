"""Queries that want more of SQLite's memory than a test allows; each is to follow COUNT."""

COUNT = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT {})"
HUNGRY = (
    "SELECT COUNT(*) FROM (SELECT hex(zeroblob(9000)) || i AS x FROM n ORDER BY x LIMIT 100000)",
    "SELECT COUNT(DISTINCT hex(zeroblob(9000)) || i) FROM n",
    "SELECT COUNT(*) FROM (SELECT hex(zeroblob(9000)) || i FROM n UNION SELECT 1)",
    "SELECT json_group_array(hex(zeroblob(9000))) FROM n",
)
