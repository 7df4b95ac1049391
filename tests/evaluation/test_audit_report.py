from sqldojo.evaluation.audit_report import audit_markdown, plot_rows
from sqldojo.verifier.audit import (
    BIRD,
    TEST_SUITE,
    JudgedMutant,
    JudgedRewrite,
    OracleScore,
    ReferenceAudit,
    Subject,
    summarise,
)


def mutant(operator, sql, killed, missed=None):
    accepted = tuple(not each for each in killed)
    return JudgedMutant(operator, sql, killed, {BIRD: accepted, TEST_SUITE: accepted}, (), missed)


def audits(*, missed, refused):
    mutants = (
        mutant("boundary", "SELECT a FROM t WHERE b || 'x' >= 1", (False, False, False, True)),
        mutant("drop condition", "SELECT a\nFROM t", (True,) * 4),
        mutant("add DISTINCT", "SELECT DISTINCT a FROM t", (False,) * 4, missed=missed),
    )
    rewrite = JudgedRewrite("CTE", "WITH x AS (SELECT 1) SELECT * FROM x", refused)
    return [ReferenceAudit(Subject("big", "train", "SELECT a FROM t WHERE b > 1"), mutants, (rewrite,),
                           OracleScore(3, 2, 2, 2))]  # fmt: skip


def test_report_shows_the_telling_rewrite_and_the_scores():
    lines = audit_markdown(audits(missed=False, refused="")).splitlines()
    telling = "| big | `SELECT a FROM t WHERE b > 1` | `SELECT a FROM t WHERE b \\|\\| 'x' >= 1` | yes | yes | no |"
    assert telling in lines
    assert "| one ordinary | 1 | 50.00 |" in lines and "| all four | 2 | 100.00 |" in lines
    assert "| boundary | 1 | 0.00 | 0.00 | 100.00 | 0 | 0 |" in lines
    assert "| CTE | 1 | 1 |" in lines
    assert (
        "| big | add DISTINCT | 1 | `SELECT a FROM t WHERE b > 1` | `SELECT DISTINCT a FROM t` |"
        in lines[lines.index("## Survivors presumed equivalent") :]
    )
    assert "## Missed" not in lines and "## Refused rewrites" not in lines


def test_report_lists_what_must_not_be():
    text = audit_markdown(audits(missed=True, refused="adversarial: 2 rows where 1 are expected"))
    assert "Missed, killed by the oracle alone: 1. Equivalent rewrites accepted: 0 of 1." in text
    assert "`SELECT DISTINCT a FROM t` |" in text[text.index("## Missed") :]
    assert "adversarial: 2 rows where 1 are expected" in text[text.index("## Refused rewrites") :]


def test_every_table_is_rectangular():
    lines = audit_markdown(audits(missed=True, refused="why")).splitlines()
    tables, width = 0, None
    for line in lines:
        cells = line.replace("\\|", "").count("|") if line.startswith("|") else None
        assert width is None or cells in (None, width), line
        tables += width is None and cells is not None
        width = cells
    assert tables == 9


def test_plot_has_a_row_for_each_group():
    rows = plot_rows(summarise(audits(missed=False, refused=""))["by_operator"], "operator")
    assert [row["operator"] for row in rows] == ["add DISTINCT", "boundary", "drop condition"]
    assert rows[1] == {
        "operator": "boundary", "mutants": 1, "one_ordinary": 0.0, "three_ordinary": 0.0, "all_four": 1.0
    }  # fmt: skip
