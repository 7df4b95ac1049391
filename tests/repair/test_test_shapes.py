"""Which tests are judged without running them, and that the verdict is what running them would give."""

import pytest
from repair_records import CODE_TEST, PLAIN_TEST

from sqldojo.repair.test_interpreter import passes
from sqldojo.repair.test_shapes import recognise

HEAD = "def test_case(pred_sqls, sol_sqls, db_path, conn, conditions):\n"


def source(*lines):
    return HEAD + "".join(f"    {line}\n" for line in lines)


def names(rows=((1, "a"), (2, "b"))):
    return {
        "execute_queries": lambda sql, path, conn: ([(len(sql),)], False, False),
        "ex_base": lambda pred, sol, path, conn, conditions=None: int(pred == sol),
        "pred_query_result": list(rows),
    }


# Each with what it asserts of the prediction ["SELECT 1"], the reference ["SELECT 1"] and two rows.
RECOGNISED = [
    (("pass",), True),
    (("return 0",), True),
    (("print('rows', len(pred_query_result))",), True),
    (("'a text'", "assert True"), True),
    (("assert False, 'no'",), False),
    (("result = ex_base(pred_sqls, sol_sqls, db_path, conn, conditions=conditions)", "assert result == 1"), True),
    (("assert ex_base(pred_sqls, ['other'], db_path, conn) == 1",), False),
    (("assert not ex_base(pred_sqls, ['other'], db_path, conn)",), True),
    (("rows, error, late = execute_queries('four', db_path, conn)", "assert not error and rows[0][0] == 4"), True),
    (("rows, error = execute_queries('four', db_path, conn)",), False),
    (("for size, word in ((2, 'ab'), (3, 'abc')):", "    assert len(word) == size, (size, word)"), True),
    (("for size in (2, 3):", "    if size == 3:", "        return 1", "assert False"), True),
    (("for size in range(9):", "    if size > 1:", "        break", "assert size == 2"), True),
    (("total = 0", "for size in [1, 2, 3]:", "    if size == 2:", "        continue", "    total += size",
      "assert total == 4"), True),
    (("numbers = [row[0] for row in pred_query_result]", "assert numbers == sorted(numbers)"), True),
    (("assert [row[0] for row in pred_query_result if row[1] != 'a'] == [2]",), True),
    (("assert len({row[0] for row in pred_query_result}) == len(pred_query_result)",), True),
    (("assert any(row == (2, 'b') for row in pred_query_result)",), True),
    (("assert all(left[0] < right[0] for left, right in zip(pred_query_result, pred_query_result[1:]))",), True),
    (("assert sorted(pred_query_result, key=lambda row: -row[0])[0] == (2, 'b')",), True),
    (("assert sum(x * y for x in (1, 2) for y in (10, 20)) == 90",), True),
    (("assert 'select' in ' '.join(pred_sqls).lower()",), True),
    (("assert pred_sqls[0].upper().startswith('WITH')",), False),
    (("assert f'{3.14159:.2f}|{pred_sqls[0]!r:>12}' == \"3.14|  'SELECT 1'\"",), True),
    (("assert conditions.get('order', False) is False",), True),
    (("assert 1 < 2 < 3 and not 1 < 3 < 2",), True),
    (("assert ('x' if pred_sqls else 'y') == 'x'",), True),
    (("assert {'a': 1}['a'] + -1 == 0 and [1, 2, 3][-2:] == [2, 3]",), True),
    (("assert pred_query_result[7]",), False),
    (("assert 1 / 0",), False),
    (("assert 'a' + 1",), False),
    (("assert conn.count('x') == 0",), False),
    (("late = 1 if False else unknown", "unknown = 2"), False),
    (("for number in range(100000000):", "    pass"), False),
]  # fmt: skip


@pytest.mark.parametrize(("lines", "passed"), RECOGNISED)
def test_a_recognised_test_is_judged_as_python_would(lines, passed):
    test = recognise(source(*lines))
    assert test is not None
    assert passes(test, (["SELECT 1"], ["SELECT 1"], "path", None, {}), names()) is passed


@pytest.mark.parametrize(("lines", "passed"), [case for case in RECOGNISED if "100000000" not in str(case)])
def test_the_verdict_is_pythons_own(lines, passed):
    """The lines above are ours, so here they may be run."""
    visible, own = names(), {}
    exec(source(*lines), visible, own)
    try:
        own["test_case"](["SELECT 1"], ["SELECT 1"], "path", None, conditions={})
    except Exception:
        assert not passed
    else:
        assert passed


@pytest.mark.parametrize(
    "test",
    [
        PLAIN_TEST,
        "import re\nfrom datetime import date\n" + PLAIN_TEST,
        "'''About it.'''\n" + PLAIN_TEST,
        PLAIN_TEST.replace("conditions):", "conditions=None):"),
        PLAIN_TEST.replace("pred_sqls", "predicted"),
    ],
)
def test_the_common_shape_is_recognised(test):
    assert recognise(test) is not None


@pytest.mark.parametrize(
    "test",
    [
        "",
        "x = 1",
        "def test_case(",
        "def test_case(pred_sqls):\n    \0",
        HEAD.replace(", conditions", "") + "    pass",
        HEAD.replace("conditions", "**kwargs") + "    pass",
        HEAD.replace("conditions", "other") + "    pass",
        HEAD.replace("conditions", "conditions, more") + "    pass",
        HEAD.replace("conditions", "conditions=print()") + "    pass",
        HEAD.replace("pred_sqls", "pred_sqls: list[str]") + "    pass",
        "@cached\n" + PLAIN_TEST,
        "async " + PLAIN_TEST,
        PLAIN_TEST + "\n" + PLAIN_TEST,
        "limit = 3\n" + PLAIN_TEST,
        "import os\n" + PLAIN_TEST,
        "from os import system\n" + PLAIN_TEST,
        CODE_TEST,
        *(
            source(line)
            for line in (
                "import os", "open('x')", "conn.execute('DELETE FROM t')", "ex_base.__globals__", "len.__self__",
                "().__class__", "pred_sqls.__class__", "'{0.__class__}'.format(1)", "getattr(conn, 'execute')('x')",
                "eval('1')", "exec('1')", "__import__('os')", "unknown(1)", "x = unknown",
                "x = 9 ** 9 ** 9",
                "global x", "while True: pass", "with conn: pass", "del pred_sqls", "raise ValueError",
                "try:\n        pass\n    except Exception:\n        pass", "x = ex_base", "(lambda: 1)()",
                "[open][0]('x')",
                "len = open", "[len for len in pred_sqls]", "(x := 1)", "x = [*pred_sqls]", "ex_base(*pred_sqls)",
                "dict(**conditions)", "x = {**conditions}", "pred_sqls[0] = 'SELECT 1'", "pred_sqls.clear()",
                "x: int = 1",
                "assert ...", "def inner(): pass", "yield 1", "x = lambda y=open: y",
            )
        ),
    ],
)  # fmt: skip
def test_other_code_is_not(test):
    assert recognise(test) is None


def test_very_deep_code_is_not():
    assert recognise(source("x = " + "(" * 5000 + "1" + ")" * 5000)) is None
    assert recognise(source("x = " + "-" * 100_000 + "1")) is None
