"""Generated tasks: right and wrong as they claim, balanced, without leaks, and the same each time."""

from collections import Counter
from dataclasses import replace

import pytest
from bookstall import REFERENCES, build_bookstall

from sqldojo.databases.execution import OK, run_query
from sqldojo.repair.bugs.kinds import KINDS
from sqldojo.repair.generating import GenerateParams, generate
from sqldojo.repair.hidden_tests import same_results
from sqldojo.repair.leaks import leak
from sqldojo.repair.references import RepairReference
from sqldojo.repair.task import QUERY
from sqldojo.verifier.grading import CORRECT, grade_all

PARAMS = GenerateParams(seed=3, tasks=80, two_bugs_share=0.25)


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("database")
    build_bookstall(folder)
    return folder


@pytest.fixture(scope="module")
def template(root):
    return next(root.glob("*/*_template.sqlite"))


@pytest.fixture(scope="module")
def generated(root):
    return generate(REFERENCES, root, PARAMS)


def test_as_many_tasks_as_asked_for_with_their_hidden_halves(generated):
    assert len(generated.tasks) == len(generated.hidden) == 80
    assert [task.id for task in generated.tasks] == [hidden.id for hidden in generated.hidden]
    assert generated.tasks[0].id == "bookstall-0001"
    assert {(task.category, task.split, task.db_id) for task in generated.tasks} == {(QUERY, "", "bookstall")}
    assert {task.type for task in generated.tasks} <= {reference.type for reference in REFERENCES}


def test_references_are_right_and_buggy_queries_are_not(generated, template):
    for task, hidden in zip(generated.tasks, generated.hidden, strict=True):
        verdicts = grade_all(
            hidden.sol_sql[0], [hidden.sol_sql[0], task.issue_sql[0]], [template], ordered=hidden.ordered
        )
        assert [verdict.verdict == CORRECT for verdict in verdicts] == [True, False], task.issue_sql


def test_the_published_comparison_or_a_count_of_rows_tells_them_apart(generated, template):
    for task, hidden in zip(generated.tasks, generated.hidden, strict=True):
        right, wrong = run_query(template, hidden.sol_sql[0]), run_query(template, task.issue_sql[0])
        if same_results(right, wrong, ordered=hidden.ordered):
            assert "len(pred_rows)" in hidden.test_cases[0]
            assert len(right.rows) != len(wrong.rows)


def test_errors_are_told_in_sqlites_words(generated, template):
    failing = 0
    for task in generated.tasks:
        result = run_query(template, task.issue_sql[0])
        if result.status != OK:
            failing += 1
            assert result.message in task.issue
    assert failing > 20


def test_no_issue_gives_the_fix_away(generated):
    for task, hidden in zip(generated.tasks, generated.hidden, strict=True):
        assert leak(task.issue, task.issue_sql[0], hidden.sol_sql[0]) is None


def test_kinds_are_balanced(generated):
    assert set(generated.counts) == set(KINDS)
    assert min(generated.counts.values()) > 0
    assert generated.imbalance <= 2
    assert max(generated.counts.values()) <= 9
    of_tasks = Counter(kind for task in generated.tasks for kind in task.kind.split("+"))
    assert dict(of_tasks) == generated.counts


def test_a_share_has_two_bugs(generated):
    assert sum("+" in task.kind for task in generated.tasks) == 20


def test_no_query_comes_twice_and_references_are_used_evenly(generated):
    assert len({task.issue_sql for task in generated.tasks}) == 80
    uses = Counter(task.type for task in generated.tasks)
    assert len(uses) == len(REFERENCES)
    assert max(uses.values()) <= 15


def test_some_references_are_written_with_aliases(generated):
    texts = {hidden.sol_sql[0] for hidden in generated.hidden}
    own = {reference.sql for reference in REFERENCES}
    assert texts & own
    assert texts - own
    assert {" ".join(text.split()[:2]) for text in texts - own} <= {"SELECT r.name,", "SELECT r.name", "SELECT title",
                                                                    "SELECT b.title,"}  # fmt: skip


def test_ordered_references_have_ordered_tests(generated):
    assert {task.type for task, hidden in zip(generated.tasks, generated.hidden, strict=True) if hidden.ordered} == {
        reference.type for reference in REFERENCES if reference.ordered
    }


def test_the_same_tasks_each_time_and_others_for_another_seed(generated, root):
    small = GenerateParams(seed=3, tasks=10, two_bugs_share=0.5)
    assert generate(REFERENCES, root, small) == generate(REFERENCES, root, small)
    assert generate(REFERENCES, root, replace(small, seed=4)).tasks != generate(REFERENCES, root, small).tasks


def test_a_reference_without_rows_gives_no_task(root):
    empty = RepairReference("e", "e", "bookstall", "Who lives in Rome?", "SELECT name FROM readers WHERE town = 'Rome'",
                            False, 1)  # fmt: skip
    found = generate([empty], root, PARAMS)
    assert found.tasks == ()
    assert found.left_out == {"the reference gives no row": 1}
    assert found.imbalance == 0


def test_fewer_tasks_than_asked_for_when_bugs_run_out(root):
    found = generate(REFERENCES[:1], root, GenerateParams(seed=1, tasks=500, two_bugs_share=0.0))
    assert 10 < len(found.tasks) < 100
    assert len({task.issue_sql for task in found.tasks}) == len(found.tasks)


@pytest.mark.parametrize(("tasks", "share", "message"), [(0, 0.5, "tasks: "), (1, 1.5, "two_bugs_share: ")])
def test_parameters_out_of_range(tasks, share, message):
    with pytest.raises(ValueError, match=message):
        GenerateParams(seed=1, tasks=tasks, two_bugs_share=share)
