from dataclasses import replace

import pytest
from village import IN_TOWN

from sqldojo.questions.wording import leak, likeness, normalise, wording_fault

COLUMNS = {"people": ("id", "name", "home_town"), "Pets": ("petId", "kind")}


def worded(*phrasings):
    return replace(IN_TOWN, phrasings=phrasings)


def test_normalised_texts_keep_words_and_numbers_alone():
    assert normalise("  Who's in  Zürich, ÜBER 10?") == "who s in zürich über 10"


def test_letters_that_look_alike_and_invisible_signs_make_no_other_text():
    assert normalise("Ｗho is in Zu\u0308rich,\u00a0o\u00adver 1\u200b0?") == normalise("Who is in Zürich, over 10?")
    assert leak(worded("Ｓ\u200bELECT the people of {town}."), COLUMNS).evidence.startswith("`SELECT`")


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("broken-wording", "Who lives in {town:d}?"), ("broken-wording", "Who lives in {town!r}?"),
        ("omits-parameter", "Who lives in New{town}?"), ("omits-parameter", "Who lives in {town}ville?"),
        ("omits-parameter", "Who lives in {town}{town}?"),
    ],
)  # fmt: skip
def test_a_value_stands_by_itself_and_as_it_is(rule, text):
    assert wording_fault(worded(text)).rule == rule
    assert wording_fault(worded("Who lives in '{town}', {town}'s people or {town}-based?")) is None


def test_sound_words_have_no_fault():
    fine = worded("Select all people from {town}, without NULL. Count each; one (or more).", "People of {town}?")
    assert wording_fault(fine) is None and leak(fine, COLUMNS) is None


@pytest.mark.parametrize(
    "text", ["Use a JOIN for {town}.", "GROUP BY {town}?", "`name` of {town}?", "age <> 3 in {town}?",
             "max(x) of {town}?", "The HOME_TOWN of {town}?", "pets.kind in {town}?", "the petid in {town}?"],
)  # fmt: skip
def test_sql_and_identifiers_are_leaks(text):
    assert leak(worded("People of {town}?", text), COLUMNS).rule == "leaks-sql"


def test_words_that_name_a_plain_column_are_none():
    assert leak(worded("The name and kind of {town}? Only people with pets."), COLUMNS) is None


def test_likeness_is_that_of_the_most_alike_phrasings():
    assert likeness(worded("Who lives in {town}?", "x"), worded("y", "Who works in {town}?")) == pytest.approx(3 / 5)
    assert likeness(worded("a b"), worded("c d")) == 0
    assert likeness(worded("A, b!"), worded("b a")) == 1
