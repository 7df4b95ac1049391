"""The words and clauses of a text, also of one that no parser accepts."""

from sqldojo.repair.sql_tokens import selects, tokens


def words_of(sql):
    return [token.text for token in tokens(sql)]


def test_tokens_keep_texts_and_signs_whole():
    assert words_of("SELECT a.b, 'it''s (x)' FROM t WHERE c >= 1.5") == [
        "SELECT", "a", ".", "b", ",", "'it''s (x)'", "FROM", "t", "WHERE", "c", ">=", "1.5"]  # fmt: skip


def test_an_unclosed_quote_is_a_sign_of_its_own():
    assert words_of("WHERE a = 'Graz") == ["WHERE", "a", "=", "'", "Graz"]


def test_a_parenthesis_has_the_depth_outside_it():
    assert [(t.text, t.depth) for t in tokens("a (b (c))")] == [
        ("a", 0), ("(", 0), ("b", 1), ("(", 1), ("c", 2), (")", 1), (")", 0)]  # fmt: skip


def test_clauses_of_every_select():
    sql = "SELECT a FROM t WHERE b IN (SELECT c FROM u ORDER BY c LIMIT 1) GROUP BY a UNION SELECT d FROM v"
    found = [list(clauses) for clauses in selects(sql)]
    assert found == [["SELECT", "FROM", "WHERE", "GROUP"], ["SELECT", "FROM", "ORDER", "LIMIT"], ["SELECT", "FROM"]]
    where = selects(sql)[0]["WHERE"]
    own = tokens(sql)
    assert sql[own[where.first].start : own[where.end - 1].end] == "WHERE b IN (SELECT c FROM u ORDER BY c LIMIT 1)"


def test_an_order_inside_a_window_is_no_clause():
    assert list(selects("SELECT RANK() OVER (ORDER BY a) FROM t")[0]) == ["SELECT", "FROM"]
