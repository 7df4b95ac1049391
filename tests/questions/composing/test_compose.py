"""What is composed of small schemas: exact queries and texts, names that need quotes, and a list that never changes."""

from string import Formatter

import pytest
from sqlite_files import write_database

from sqldojo.databases.execution import run_query
from sqldojo.databases.parameters import expand, pool
from sqldojo.errors import UserError
from sqldojo.questions.composing.compose import compose
from sqldojo.records import COMPOSED, PATTERNS, TRAIN

SCHOOL = """
CREATE TABLE school (id INTEGER PRIMARY KEY, name TEXT, town TEXT);
CREATE TABLE teacher (id INTEGER PRIMARY KEY, name TEXT, "order" TEXT, pay_rate REAL, hire_date TEXT, phone TEXT,
                      school_id INTEGER REFERENCES school(id));
"""


@pytest.fixture(scope="module")
def school(tmp_path_factory):
    """Six schools in three towns, and sixty teachers with an "order", a pay rate, a hire date and maybe a phone."""
    towns = ("Rome", "Pisa", "Bari")
    schools = [f"({n}, 'School {n}', '{towns[n % 3]}')" for n in range(1, 7)]
    teachers = [
        f"({n}, 'Teacher {n}', '{('red', 'green', 'blue', 'grey')[n % 4]}', {10 + n % 23}.5, "
        f"'{2015 + n % 7}-{1 + n % 12:02}-11', {'NULL' if n % 3 else n}, {1 + n % 5})"
        for n in range(1, 61)
    ]
    rows = f"INSERT INTO school VALUES {', '.join(schools)}; INSERT INTO teacher VALUES {', '.join(teachers)}"
    return write_database(tmp_path_factory.mktemp("school") / "school.sqlite", f"{SCHOOL}; {rows}")


@pytest.fixture(scope="module")
def types(school):
    """All types composed of the school, by id."""
    return {each.id: each for each in compose([school])}


@pytest.mark.parametrize(
    ("name", "sql", "text", "pattern", "difficulty"),
    [
        (
            "list-name-school-with-town-equal",
            "SELECT name FROM school WHERE town = :school_town",
            "Which schools have the town {school_town}? Return only the name, one row per school.",
            "filter",
            1,
        ),
        (
            "count-teacher-with-pay-rate-at-least",
            "SELECT COUNT(*) FROM teacher WHERE pay_rate >= :teacher_pay_rate",
            "How many teachers have a pay rate of at least {teacher_pay_rate}? Return only the number.",
            "aggregate",
            1,
        ),
        (
            "list-name-teacher-with-hire-date-year-with-order-equal",
            "SELECT name FROM teacher WHERE strftime('%Y', hire_date) = :teacher_hire_date_year AND \"order\" = "
            ":teacher_order",
            "Which teachers have a hire date in {teacher_hire_date_year} and the order {teacher_order}? Return only "
            "the name, one row per teacher.",
            "date",
            2,
        ),
        (
            "count-by-order-teacher-with-hire-date-year",
            "SELECT \"order\", COUNT(*) FROM teacher WHERE strftime('%Y', hire_date) = :teacher_hire_date_year "
            'GROUP BY "order"',
            "For each order, what is the number of teachers with a hire date in {teacher_hire_date_year}? Return the "
            "order and then the number of teachers, one row per order. Leave out orders without such teachers. A "
            "missing order counts as a value of its own.",
            "group",
            2,
        ),
        (
            "count-teacher-of-school-with-town-equal",
            "SELECT COUNT(*) FROM teacher JOIN school ON school.id = teacher.school_id WHERE school.town = "
            ":school_town",
            "How many teachers belong to schools with the town {school_town}? Return only the number.",
            "join",
            2,
        ),
        (
            "school-without-teacher-with-order-equal",
            "SELECT name FROM school WHERE NOT EXISTS "
            '(SELECT 1 FROM teacher WHERE school_id = school.id AND "order" = :teacher_order)',
            "Which schools have no teachers with the order {teacher_order}? Return only the name, one row per school.",
            "anti-join",
            2,
        ),
        (
            "school-over-average-pay-rate-teacher-of-school-with-town-equal",
            "SELECT school.name FROM teacher JOIN school ON school.id = teacher.school_id WHERE school.town = "
            ":school_town GROUP BY school.id HAVING AVG(teacher.pay_rate) > :teacher_pay_rate",
            "For which schools with the town {school_town} is the average pay rate of their teachers greater than "
            "{teacher_pay_rate}? Return only the school's name, one row per school.",
            "having",
            3,
        ),
        (
            "highest-pay-rate-teacher-with-pay-rate-below",
            "SELECT name FROM teacher WHERE pay_rate = (SELECT MAX(pay_rate) FROM teacher WHERE pay_rate < "
            ":teacher_pay_rate)",
            "Which of the teachers with a pay rate below {teacher_pay_rate} have the highest pay rate? Return only "
            "the name, all of them in case of a tie, one row per teacher.",
            "top",
            2,
        ),
        (
            "highest-pay-rate-per-order-teacher-with-hire-date-year",
            "SELECT \"order\", name FROM teacher WHERE strftime('%Y', hire_date) = :teacher_hire_date_year AND "
            "pay_rate = "
            '(SELECT MAX(pay_rate) FROM teacher AS other WHERE other."order" = teacher."order" '
            "AND strftime('%Y', hire_date) = :teacher_hire_date_year)",
            "For each order, which of the teachers with a hire date in {teacher_hire_date_year} have the highest pay "
            "rate? Return the order and the name, all of them in case of a tie, one row per teacher. Teachers "
            "without an order are left out.",
            "group-top",
            3,
        ),
        (
            "share-phone-missing-teacher-with-order-equal",
            'SELECT AVG(CASE WHEN phone IS NULL THEN 1.0 ELSE 0 END) FROM teacher WHERE "order" = :teacher_order',
            "What fraction of the teachers with the order {teacher_order} have no phone? Return one number between 0 "
            "and 1.",
            "ratio",
            2,
        ),
        (
            "count-by-month-teacher-with-hire-date-year",
            "SELECT strftime('%m', hire_date) AS month, COUNT(*) FROM teacher WHERE strftime('%Y', hire_date) = "
            ":teacher_hire_date_year GROUP BY month",
            "For each month, what is the number of teachers with a hire date in {teacher_hire_date_year}? Return the "
            "month as two digits and then the number of teachers, one row per month. Leave out months without such "
            "teachers. Months are those of the hire date.",
            "month",
            2,
        ),
        (
            "school-one-but-not-other-teacher-with-hire-date-year-and-teacher-with-order-equal",
            "SELECT name FROM school WHERE id IN (SELECT school_id FROM teacher WHERE strftime('%Y', hire_date) = "
            ':teacher_hire_date_year EXCEPT SELECT school_id FROM teacher WHERE "order" = :teacher_order)',
            "Which schools have teachers with a hire date in {teacher_hire_date_year} but have no teachers with the "
            "order {teacher_order}? Return only the name, one row per school.",
            "set",
            3,
        ),
        (
            "rank-by-pay-rate-teacher-with-order-equal",
            "SELECT name, pay_rate, RANK() OVER (ORDER BY pay_rate DESC) FROM teacher WHERE \"order\" = :teacher_order",
            "Rank the teachers with the order {teacher_order} by pay rate. Return the name, the pay rate and the "
            "rank, in this order, one row per teacher. Rank 1 is the highest pay rate; equal ones share a rank, "
            "and two with rank 1 are followed by rank 3.",
            "window",
            3,
        ),
    ],
)  # fmt: skip
def test_a_pattern_gives_this_query_and_this_text(types, name, sql, text, pattern, difficulty):
    found = types[name]
    assert (found.sql, found.phrasings[0], found.pattern, found.difficulty) == (sql, text, pattern, difficulty)


def test_every_pattern_is_covered_in_the_order_of_patterns(types):
    assert list(dict.fromkeys(each.pattern for each in types.values())) == [
        pattern for pattern in PATTERNS if pattern in {each.pattern for each in types.values()}
    ]
    assert {each.pattern for each in types.values()} == set(PATTERNS)


def test_every_phrasing_has_every_parameter_and_no_two_are_alike(types):
    for each in types.values():
        assert 4 <= len(each.phrasings) == len(set(each.phrasings))
        for phrasing in each.phrasings:
            assert {name for _, name, _, _ in Formatter().parse(phrasing) if name} == set(each.parameters)
        assert (each.split, each.proposer) == (TRAIN, COMPOSED)


def test_no_phrasing_can_be_read_as_another_question(types):
    """Not the best of the whole group; rows are named, not "those"; three that share a rank leave out two."""
    top = types["highest-pay-rate-per-order-teacher-with-hire-date-year"]
    assert any("Of those with the same order, give the ones with the highest" in each for each in top.phrasings)
    texts = [text for each in types.values() for text in each.phrasings]
    assert not [text for text in texts if " of their order" in text or "Those without a known" in text]
    assert all("two with rank 1 are followed by rank 3" in text for each in types.values() for text in each.phrasings
               if "RANK()" in each.sql)  # fmt: skip


def test_a_schema_in_another_script_gives_types(tmp_path):
    rows = ", ".join(f"({n}, '名{n}', '{('東京', '大阪', '京都')[n % 3]}', {n % 23})" for n in range(60))
    path = write_database(tmp_path / "people.sqlite", f"CREATE TABLE 人 (id INTEGER PRIMARY KEY, 名 TEXT, 町 TEXT, 年 "
                          f"INTEGER); INSERT INTO 人 VALUES {rows}")  # fmt: skip
    assert {name for each in compose([path]) for name in each.parameters} >= {"人_町", "人_年"}


def test_every_query_runs_with_values_of_its_pools(school, types):
    for each in types.values():
        values = {name: pool(school, sql)[0] for name, sql in each.parameters.items()}
        result = run_query(school, expand(school, each.sql, values))
        assert result.status == "ok", (each.id, result.message)


def test_one_parameter_has_one_pool_in_all_types(types):
    pools = {}
    for each in types.values():
        for name, sql in each.parameters.items():
            assert pools.setdefault(name, sql) == sql
    assert pools["teacher_order"] == 'SELECT DISTINCT "order" FROM teacher WHERE "order" IS NOT NULL ORDER BY "order"'
    assert pools["teacher_hire_date_year"].startswith("VALUES ('2015'), ('2016')")


def test_the_same_databases_give_the_same_list(school, types):
    assert compose([school]) == list(types.values())


def test_ids_are_unique_and_most_limits_them(school):
    drawn = compose([school], most=60, seed=1)
    assert len({each.id for each in drawn}) == len(drawn) == 60
    assert sum(each.difficulty <= 2 for each in drawn) >= 30
    assert drawn != compose([school], most=60, seed=2)


def test_a_value_is_only_asked_for_when_every_database_has_it(school, tmp_path):
    other = write_database(tmp_path / "other.sqlite", f"{SCHOOL}; INSERT INTO school VALUES (1, 'One', 'Rome')")
    parameters = {name for each in compose([school, other]) for name in each.parameters}
    assert not {"school_town", "teacher_order"} & parameters  # in `other` there is one town, and no teacher


def test_a_schema_without_foreign_keys_has_no_joins(tmp_path):
    rows = ", ".join(f"('thing {n}', '{'abc'[n % 3]}', {n % 7})" for n in range(30))
    path = write_database(
        tmp_path / "things.sqlite",
        f"CREATE TABLE things (name TEXT, kind TEXT, weight INTEGER); INSERT INTO things VALUES {rows}",
    )
    types = compose([path])
    assert not [each for each in types if "JOIN" in each.sql or "EXISTS" in each.sql]
    assert "SELECT name FROM things WHERE kind = :things_kind" in {each.sql for each in types}


def test_databases_of_two_schemas_are_refused(school, tmp_path):
    other = write_database(tmp_path / "other.sqlite", "CREATE TABLE school (id INTEGER PRIMARY KEY)")
    with pytest.raises(UserError, match=r"other\.sqlite: types cannot be composed from it: .*; give databases of one"):
        compose([school, other])
