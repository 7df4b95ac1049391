import pytest

from sqldojo.errors import UserError
from sqldojo.questions.verdicts import Verdict, read_verdicts


def test_verdicts_are_read_by_the_id_of_their_type(tmp_path):
    file = tmp_path / "verdicts.yaml"
    file.write_text("# ours\none: {verdict: accept, why: a fine trap}\ntwo:\n  verdict: reject\n  why: dull\n")
    assert read_verdicts(file) == {"one": Verdict("accept", "a fine trap"), "two": Verdict("reject", "dull")}


def test_a_file_may_have_none(tmp_path):
    file = tmp_path / "verdicts.yaml"
    file.write_text("{}\n")
    assert read_verdicts(file) == {}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("one: accept", "one: expected the keys"),
        ("one: {verdict: accept}", "one: expected the keys"),
        ("one: {verdict: accept, why: x, who: me}", "one: expected the keys"),
        ("one: {verdict: maybe, why: x}", "one.verdict: expected `accept` or `reject`, found 'maybe'"),
        ("one: {verdict: accept, why: ''}", "one.why: expected a text"),
        ("one: {verdict: accept, why: 3}", "one.why: expected a text"),
        ("- one", "expected a mapping"),
    ],
)
def test_whatever_does_not_fit_is_named(tmp_path, text, complaint):
    file = tmp_path / "verdicts.yaml"
    file.write_text(text)
    with pytest.raises(UserError, match=f"verdicts.yaml: {complaint}"):
        read_verdicts(file)
