"""The scripted repair teachers: what each style looks like, that it is true, and what a demonstration may hold."""

from dataclasses import replace

import pytest
from repair_tasks import (
    AGENT,
    CANARY,
    HIDDEN,
    JOIN,
    NAME,
    SETUP,
    SOLUTIONS,
    TASKS,
    TEST,
    make_attempts,
    say,
    write_books,
)

from sqldojo.files import to_line
from sqldojo.records import CORRECT, RUN_SQL, SUBMIT_SQL
from sqldojo.repair.task import Hidden
from sqldojo.repair.tools import INSPECT_SCHEMA
from sqldojo.teacher.repair_script import (
    SCRIPTED_A,
    SCRIPTED_B,
    RepairTeachParams,
    demonstrate,
    script_teacher,
)

WEIGHTS = {"direct": 0, "look": 1, "run_and_look": 0, "check": 1, "mistake": 0}
REPAIRED = "SELECT name, COUNT(book_id)\nFROM author left JOIN book USING (author_id)\nGROUP BY name"


@pytest.fixture(scope="module")
def databases(tmp_path_factory):
    return write_books(tmp_path_factory.mktemp("repair"))


def params(seed=1, **weights):
    return RepairTeachParams(seed=seed, **(WEIGHTS | weights))


def taught(databases, teacher, tasks=TASKS, hidden=HIDDEN, agent=AGENT, seed=1, **weights):
    make = make_attempts(databases, agent=agent, hidden=hidden)
    return demonstrate(tasks, hidden, make, teacher, params(seed, **weights))


def calls(messages):
    return [(m.tool_call.name, m.tool_call.sql, m.target) for m in messages if m.role == "assistant"]


def test_a_looks_at_the_tables_and_submits_in_the_users_layout(databases):
    episodes, counts = taught(databases, SCRIPTED_A)
    assert [episode.question for episode in episodes] == [task.id for task in TASKS]
    assert counts == {"direct": 0, "look": 3, "run_and_look": 0, "rejected": 0, "leaked": 0}
    assert calls(episodes[0].messages) == [(INSPECT_SCHEMA, "", True), (SUBMIT_SQL, REPAIRED, True)]
    assert {(episode.outcome, episode.reward, episode.teacher) for episode in episodes} == {(CORRECT, 1.0, SCRIPTED_A)}
    assert "restock(book_id INTEGER, copies INTEGER)" in episodes[2].messages[3].content


def test_a_may_submit_at_once(databases):
    episodes, counts = taught(databases, SCRIPTED_A, look=0, direct=1)
    assert counts["direct"] == 3
    assert calls(episodes[0].messages) == [(SUBMIT_SQL, REPAIRED, True)]


def test_a_may_run_the_users_query_first(databases):
    episodes, _ = taught(databases, SCRIPTED_A, look=0, run_and_look=1)
    assert calls(episodes[1].messages) == [
        (RUN_SQL, NAME.issue_sql[0], True), (INSPECT_SCHEMA, "", True), (SUBMIT_SQL, SOLUTIONS[NAME.id], True),
    ]  # fmt: skip
    assert episodes[1].messages[3].content == "Error: no such column: cost"


def test_b_checks_what_it_submits(databases):
    episodes, counts = taught(databases, SCRIPTED_B)
    assert counts == {"check": 3, "mistake": 0, "rejected": 0, "leaked": 0}
    right = "SELECT book_id FROM restock GROUP BY book_id HAVING SUM(copies) > 10"
    assert calls(episodes[2].messages) == [
        (RUN_SQL, SETUP.issue_sql[0], True), (INSPECT_SCHEMA, "restock", True), (RUN_SQL, right, True),
        (SUBMIT_SQL, right, True),
    ]  # fmt: skip
    assert episodes[2].messages[7].content == "book_id\n1\n3"
    assert {episode.teacher for episode in episodes} == {SCRIPTED_B}


def test_a_wrong_repair_is_seen_to_be_wrong_and_no_target(databases):
    episodes, counts = taught(databases, SCRIPTED_B, [JOIN, NAME], check=0, mistake=1)
    assert counts["mistake"] == 2
    for episode in episodes:
        first, inspect, wrong, *rest = calls(episode.messages)
        assert first[0] == RUN_SQL and inspect[0] == INSPECT_SCHEMA and inspect[2]
        assert wrong[0] == RUN_SQL and not wrong[2]
        assert rest == [(RUN_SQL, episode.submission, True), (SUBMIT_SQL, episode.submission, True)]
        assert episode.messages[7].content != episode.messages[9].content


def test_an_episode_that_does_not_pass_is_left_out(databases):
    refused = TEST.replace("== 1", "== 0")
    hidden = HIDDEN | {NAME.id: replace(HIDDEN[NAME.id], test_cases=(refused,))}
    episodes, counts = taught(databases, SCRIPTED_A, hidden=hidden)
    assert ([episode.question for episode in episodes], counts["rejected"]) == ([JOIN.id, SETUP.id], 1)


def test_with_few_turns_the_last_calls_are_made(databases):
    episodes, _ = taught(databases, SCRIPTED_B, agent=replace(AGENT, turns=1))
    assert [[name for name, *_ in calls(episode.messages)] for episode in episodes] == [[SUBMIT_SQL]] * 3


def test_a_layout_that_would_change_the_meaning_is_not_taken(databases):
    shown = replace(NAME, issue_sql=("SELECT title,\n x 'ab' FROM book",))
    hidden = HIDDEN | {NAME.id: Hidden(NAME.id, ("SELECT title, x'ab' FROM book",))}
    episodes, _ = taught(databases, SCRIPTED_A, [shown], hidden)
    assert episodes[0].submission == "SELECT title, x'ab' FROM book"


def test_what_somebody_else_says_must_not_be_the_reference(databases):
    told = replace(NAME, issue=f"Should I write {SOLUTIONS[NAME.id]}?")
    episodes, counts = taught(databases, SCRIPTED_A, [told, JOIN])
    assert ([episode.question for episode in episodes], counts["leaked"]) == ([JOIN.id], 1)
    # the user's own query may hold the whole of it
    longer = replace(NAME, issue_sql=(f"{SOLUTIONS[NAME.id]} LIMIT 1",))
    assert len(taught(databases, SCRIPTED_A, [longer])[0]) == 1


def test_nothing_hidden_but_the_teachers_own_sql_is_in_a_demonstration(databases):
    for teacher, weights in ((SCRIPTED_A, {"run_and_look": 1}), (SCRIPTED_B, {"mistake": 1})):
        for episode in taught(databases, teacher, **weights)[0]:
            others = [replace(message, tool_call=None) for message in episode.messages if message.role != "assistant"]
            assert SOLUTIONS[episode.question] not in to_line(replace(episode, messages=tuple(others), submission=None))
            assert CANARY not in to_line(episode) and "test_case" not in to_line(episode)


def test_demonstrations_depend_on_seed_and_task_alone(databases):
    tasks = [replace(task, id=f"{task.id}-{copy}") for copy in range(5) for task in TASKS]
    hidden = {task.id: replace(HIDDEN[task.id.rpartition("-")[0]], id=task.id) for task in tasks}

    def lines(tasks, seed):
        return [to_line(each) for each in taught(databases, SCRIPTED_B, tasks, hidden, seed=seed, mistake=1)[0]]

    assert lines(tasks, 1) == lines(tasks, 1)
    assert lines(tasks[3:6], 1) == lines(tasks, 1)[3:6]
    assert lines(tasks, 1) != lines(tasks, 2)


@pytest.mark.parametrize(
    ("teacher", "made", "left", "expected"),
    [
        (SCRIPTED_A, [], 8, [INSPECT_SCHEMA, SUBMIT_SQL]),
        (SCRIPTED_A, [(INSPECT_SCHEMA, "book")], 8, [SUBMIT_SQL]),
        (SCRIPTED_B, [], 8, [RUN_SQL, INSPECT_SCHEMA, RUN_SQL, SUBMIT_SQL]),
        (SCRIPTED_B, [(RUN_SQL, "SELECT 1")], 8, [INSPECT_SCHEMA, RUN_SQL, SUBMIT_SQL]),
        (SCRIPTED_B, [(RUN_SQL, "SELECT 1"), (INSPECT_SCHEMA, "")], 8, [RUN_SQL, SUBMIT_SQL]),
        (SCRIPTED_B, [(RUN_SQL, SOLUTIONS[NAME.id])], 8, [INSPECT_SCHEMA, SUBMIT_SQL]),
        (SCRIPTED_B, [(RUN_SQL, "SELECT 1")], 2, [SUBMIT_SQL]),
        (SCRIPTED_B, [(INSPECT_SCHEMA, "")], 3, [RUN_SQL, SUBMIT_SQL]),
    ],
)
def test_a_teacher_goes_on_from_any_state_within_the_turns_left(databases, teacher, made, left, expected):
    attempt = make_attempts(databases, agent=replace(AGENT, turns=left))(NAME, 0)
    for name, argument in made:
        say(attempt, name, argument)
    begun = len(attempt.messages)
    script_teacher(HIDDEN, teacher, params(check=0, mistake=1))(attempt)
    assert attempt.outcome == CORRECT
    played = calls(attempt.messages[begun:])
    assert [name for name, *_ in played] == expected and all(target for *_, target in played)


@pytest.mark.parametrize(
    ("weights", "key"), [({"look": 0}, "direct"), ({"check": 0}, "check"), ({"mistake": -1}, "mistake")]
)
def test_weights_that_make_no_sense_name_their_key(weights, key):
    with pytest.raises(ValueError, match=f"^{key}: "):
        params(**weights)
