"""The kinds of bugs: what is balanced over tasks, and what scores are told by."""

from __future__ import annotations

# The first five make a query that does not run (a few of theirs run and answer wrongly), the others a wrong answer.
SYNTAX, CLAUSE, NAME, ALIAS, DIALECT = "syntax", "clause", "name", "alias", "dialect"
BOUNDARY, CONDITION, CALCULATION, GROUPING = "boundary", "condition", "calculation", "grouping"
JOIN_KIND, JOIN_KEY, DUPLICATES, NULLS = "join-kind", "join-key", "duplicates", "nulls"
RANKING, DATES, COLUMNS = "ranking", "dates", "columns"

KINDS = (SYNTAX, CLAUSE, NAME, ALIAS, DIALECT, BOUNDARY, CONDITION, CALCULATION, GROUPING, JOIN_KIND, JOIN_KEY,
         DUPLICATES, NULLS, RANKING, DATES, COLUMNS)  # fmt: skip
