"""Everything that is made of generated tasks is walked through: nothing hidden is in it, but in an agent's own SQL."""

import json
from dataclasses import asdict, replace

import pytest
from repair_tasks import AGENT, PLAIN, make_attempts, say, write_books

from sqldojo.files import to_line
from sqldojo.records import WRONG_SQL
from sqldojo.repair.generating import GenerateParams, generate
from sqldojo.repair.prompt import opening
from sqldojo.repair.references import RepairReference
from sqldojo.repair.task import TRAIN
from sqldojo.teacher.repair_correction import correct
from sqldojo.teacher.repair_script import SCRIPTED_A, SCRIPTED_B, RepairTeachParams, demonstrate, script_teacher

QUESTIONS = {
    "Which books cost more than 8, dearest first?": "SELECT title FROM book WHERE price > 8 ORDER BY price DESC",
    "How many books has each author, also those without any?": "SELECT a.name, COUNT(b.book_id) FROM author AS a "
    "LEFT JOIN book AS b ON b.author_id = a.author_id GROUP BY a.author_id",
    "What do the books of Ada cost on average?": "SELECT AVG(b.price) FROM book AS b JOIN author AS a "
    "ON a.author_id = b.author_id WHERE a.name = 'Ada'",
    "Which authors have at least two books?": "SELECT a.name FROM author AS a JOIN book AS b "
    "ON b.author_id = a.author_id GROUP BY a.author_id HAVING COUNT(*) >= 2",
}
PARAMS = RepairTeachParams(seed=1, direct=0, look=1, run_and_look=1, check=1, mistake=1)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of databases, tasks with a split, and their hidden halves."""
    databases = write_books(tmp_path_factory.mktemp("repair"))
    references = [
        RepairReference(f"books-{number}", f"type-{number}", "books", text, sql, "ORDER" in sql, 2)
        for number, (text, sql) in enumerate(QUESTIONS.items())
    ]
    generated = generate(references, databases, GenerateParams(seed=1, tasks=24, two_bugs_share=0.2))
    tasks = [replace(task, split=TRAIN) for task in generated.tasks]
    assert len(tasks) == 24
    return databases, tasks, {hidden.id: hidden for hidden in generated.hidden}


def squeezed(text):
    return " ".join(text.split())


def secrets(hidden):
    """What must not be said: the reference, and every line of the tests that is not the same in all of them."""
    lines = [line.strip() for test in hidden.test_cases for line in test.splitlines()]
    return [*map(squeezed, hidden.sol_sql), *(line for line in lines if len(line) > 12)]


def walk(task, record, hidden):
    """Whatever a record holds, but for an agent's own SQL and the query that the user shows."""
    fields = json.loads(to_line(record))
    assert not set(fields) & {field for field in asdict(hidden) if field != "id"}
    for message in fields["messages"]:
        if message["role"] == "assistant":
            message["content"], message["tool_call"] = "", None
        message["content"] = message["content"].replace(task.issue_sql[0], "")
    fields["submission"] = None
    text = squeezed(json.dumps(fields, ensure_ascii=False).replace("\\n", " ").replace('\\"', '"'))
    for secret in secrets(hidden):
        assert secret not in text, record.id


def test_prompts_hold_nothing_hidden(made):
    _, tasks, hidden = made
    for task in tasks:
        for message in opening(task, PLAIN):
            said = squeezed(message.content.replace(task.issue_sql[0], ""))
            assert not [secret for secret in secrets(hidden[task.id]) if secret in said], task.id


def test_demonstrations_and_corrections_hold_nothing_hidden(made):
    databases, tasks, hidden = made
    make = make_attempts(databases, hidden=hidden)
    by_id = {task.id: task for task in tasks}
    episodes = [episode for teacher in (SCRIPTED_A, SCRIPTED_B)
                for episode in demonstrate(tasks, hidden, make, teacher, PARAMS)[0]]  # fmt: skip
    assert len(episodes) == 2 * len(tasks)

    student = [failed(make, task) for task in tasks]
    found = correct(tasks, hidden, student, make, script_teacher(hidden, SCRIPTED_B, PARAMS), SCRIPTED_B)
    assert found.counts.verified == len(tasks)
    for episode in (*episodes, *student):
        walk(by_id[episode.question], episode, hidden[episode.question])
    for continuation in found.continuations:
        walk(by_id[continuation.task], continuation, hidden[continuation.task])


def failed(make, task):
    """A student's attempt that looks, tries the user's query and submits it."""
    attempt = make(task, 0)
    say(attempt, "inspect_schema")
    say(attempt, "run_sql", task.issue_sql[0])
    say(attempt, "submit_sql", task.issue_sql[0])
    assert attempt.outcome == WRONG_SQL
    mask = [0, *(int(message.role == "assistant") for message in attempt.messages[2:])]
    return attempt.episode(tokens=range(len(mask)), action_mask=mask, logprobs=[0.0] * len(mask))


def test_the_walk_finds_what_is_planted(made):
    databases, tasks, hidden = made
    make, task = make_attempts(databases, hidden=hidden), tasks[0]
    for secret in (hidden[task.id].sol_sql[0], hidden[task.id].test_cases[0]):
        episode = failed(make, task)
        planted = [*episode.messages[:-1], replace(episode.messages[3], content=f"rows\n{secret}")]
        with pytest.raises(AssertionError):
            walk(task, replace(episode, messages=tuple(planted)), hidden[task.id])
        with pytest.raises(AssertionError):
            walk(task, replace(episode, reason=f"expected {secret}"), hidden[task.id])
    assert AGENT.turns == 8
