"""Invented values fit the column's type, say what its name promises, and make ties and boundaries."""

from __future__ import annotations

import random
import re

import pytest

from sqldojo.databases.invented_values import fits, invent, invent_keys
from sqldojo.databases.schema_model import Column, Table
from sqldojo.databases.type_affinity import affinity


def column(name: str, declared: str) -> Column:
    return Column(name, declared, affinity(declared), not_null=False, collation="BINARY")


def values(name: str, declared: str, size: int = 300) -> list:
    return invent(column(name, declared), random.Random(f"{name} {declared}"), size)


@pytest.mark.parametrize(
    ("name", "declared", "pattern"),
    [
        ("email_address", "TEXT", r"[a-z.]+@example\.net"),
        ("OrderDate", "TEXT", r"\d{4}-\d\d-\d\d"),
        ("date_of_birth", "DATE", r"\d{4}-\d\d-\d\d"),
        ("last_update", "TIMESTAMP", r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"),
        ("start_time", "VARCHAR(8)", r"\d\d:\d\d:00"),
        ("Age", "TEXT", r"\d\d"),
        ("customer_phone", "VARCHAR(80)", r"555-\d{4}"),
        ("gender", "CHAR(1)", "[FM]"),
        ("is_open", "TEXT", "[YN]"),
        ("country", "STRING", "[A-Z][a-z]+"),
        ("notes", "CHAR(3)", "[a-z]{3}"),
        ("whatever", "NVARCHAR(40)", "[a-z]+ [a-z]+"),
    ],
)
def test_texts(name: str, declared: str, pattern: str) -> None:
    found = values(name, declared)
    assert all(isinstance(value, str) and re.fullmatch(pattern, value) for value in found)
    assert 1 < len(set(found)) < len(found)


@pytest.mark.parametrize(
    ("name", "declared", "kind", "least", "most"),
    [
        ("quantity", "INTEGER", {int}, 0, 120), ("founded", "REAL", {float}, 2005, 2024),
        ("price", "REAL", {float}, 0.5, 500), ("total", "DECIMAL(8,2)", {int, float}, 0.5, 500),
        ("active", "BOOLEAN", {int}, 0, 1), ("name", "INT", {int}, 0, 120),
        ("x_id", "INT", {int}, 1, 300), ("created_at", "INTEGER", {int}, 1_300_000_000, 1_800_000_000),
        ("city", "NUMERIC", {int, float}, 0.5, 500),
    ],
)  # fmt: skip
def test_numbers(name: str, declared: str, kind: set[type], least: float, most: float) -> None:
    found = values(name, declared)
    assert {type(value) for value in found} <= kind
    assert least <= min(found) <= max(found) <= most
    assert len(set(found)) < len(found)


def test_prices_have_cents_and_halves_that_roundings_treat_differently() -> None:
    found = values("price", "REAL")
    assert all(value == round(value, 2) for value in found)
    assert any(value % 1 == 0.5 for value in found)
    assert any(round(value * 100) % 10 == 5 for value in found)


def test_days_are_often_the_first_or_the_last_of_a_month() -> None:
    days = [value[-2:] for value in values("day", "TEXT")]
    assert days.count("01") > 20
    assert sum(day in ("28", "29", "30", "31") for day in days) > 20


def test_blobs_are_bytes_and_untyped_columns_follow_their_name() -> None:
    assert {type(value) for value in values("name", "BLOB")} == {bytes}
    assert {type(value) for value in values("name", "")} == {str}
    assert {type(value) for value in values("x", "")} == {int}


@pytest.mark.parametrize("declared", ["INTEGER", "REAL", "TEXT", "CHAR(3)", "VARCHAR(30)", "NUMERIC", "BLOB", ""])
@pytest.mark.parametrize("name", ["id", "code", "name", "status", "date", "year", "email"])
def test_keys_differ_and_fit(name: str, declared: str) -> None:
    key = column(name, declared)
    table = Table("things", (key,), (name,), None, ((name,),), (), "")
    for seed in range(5):
        found = invent_keys(key, table, random.Random(seed), 40)
        assert len(found) == len(set(found))
        assert len(found) > 15
        assert all(fits(value, key) for value in found)


def test_keys_that_numbers_refer_to_are_digits() -> None:
    key = column("code", "TEXT")
    table = Table("things", (key,), ("code",), None, (("code",),), (), "")
    assert all(value.isdecimal() for value in invent_keys(key, table, random.Random(1), 9, numbers=True))


@pytest.mark.parametrize(
    ("value", "declared", "expected"),
    [
        (1, "INT", True), (1.5, "INT", False), ("x", "INT", False), (1.0, "REAL", True), (1, "REAL", False),
        ("1", "TEXT", True), (b"1", "TEXT", False), ("2024-01-01", "DATE", True), ("x", "DECIMAL", False),
        (2, "DECIMAL", True), ("x", "BLOB", True), (None, "TEXT", False),
    ],
)  # fmt: skip
def test_fits(value, declared: str, expected: bool) -> None:
    assert fits(value, column("c", declared)) is expected


def test_only_bytes_fit_a_blob_of_a_strict_table() -> None:
    assert not fits("x", column("c", "BLOB"), strict=True)
    assert fits(b"x", column("c", "BLOB"), strict=True)
