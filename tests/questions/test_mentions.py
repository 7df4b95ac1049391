import pytest

from sqldojo.questions.mentions import mentions


@pytest.mark.parametrize(
    ("text", "value", "found"),
    [
        ("Boats from France or france?", "France", ["France", "france"]),
        ("Boats from Franceville?", "France", []),
        ("What does 'Ann' own?", "ann", ["Ann"]),
        ("Whose is Ann's boat?", "Ann", ["Ann"]),
        ("More than three boats", 3, ["three"]),
        ("A price above 5,000 or 5000.0.", 5000, ["5,000", "5000.0"]),
        ("since 2018-03-17, at 12:30, B-52, 3rd", 3, []),
        ("since 2018-03-17", 2018, []),
        ("since 2018-03-17", "2018-03-17", ["2018-03-17"]),
        ("above 2.5 or 2, not 25", 2, ["2"]),
        ("above 2.5", 2.5, ["2.5"]),
        ("a boat of class A", "A", ["A"]),
        ("a name with an 'a' in it", "a", ["a"]),
        ("anything", " ", []),
    ],
)
def test_mentions(text, value, found):
    assert [text[start:end] for start, end in mentions(text, value)] == found
