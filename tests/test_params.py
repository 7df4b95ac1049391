"""Typed sections: what is accepted, and that each mistake is told with file, key and remedy."""

from dataclasses import dataclass, field

import pytest

from sqldojo import params
from sqldojo.params import ParamsError


@dataclass(frozen=True)
class Inner:
    rows: int = 10


@dataclass(frozen=True)
class Section:
    learning_rate: float
    updates: int = 3
    name: str = "a"
    shuffle: bool = True
    sizes: tuple[int, ...] = ()
    weights: dict[str, float] = field(default_factory=dict)
    inner: Inner = Inner()

    def __post_init__(self):
        if self.updates < 1:
            raise ValueError(f"updates: must be at least 1, found {self.updates}")


def load(tmp_path, text):
    path = tmp_path / "params.yaml"
    path.write_text(text, encoding="utf-8")
    return params.load(path, "distill", Section)


def test_values_of_every_kind(tmp_path):
    text = """
distill:
  learning_rate: 1e-4
  name: b
  shuffle: false
  sizes: [1, 2]
  weights: {x: 1, y: 0.5}
  inner: {rows: 5}
"""
    assert load(tmp_path, text) == Section(1e-4, 3, "b", False, (1, 2), {"x": 1.0, "y": 0.5}, Inner(5))


def test_whole_number_is_a_number(tmp_path):
    rate = load(tmp_path, "distill: {learning_rate: 1}").learning_rate
    assert rate == 1.0 and isinstance(rate, float)


@pytest.mark.parametrize("written", ["1e-4", "1e-05", "1.0e-4", "0.0001"])
def test_scientific_notation_is_a_number(tmp_path, written):
    """DVC itself writes 1e-05 back, which YAML 1.1 would read as a text."""
    assert load(tmp_path, f"distill: {{learning_rate: {written}}}").learning_rate == float(written)


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ("{learning_rat: 1}", r"distill\.learning_rat: unknown key; did you mean `learning_rate`\?"),
        ("{learning_rate: 1, zzz: 1}", r"distill\.zzz: unknown key; remove it \(known: learning_rate, updates"),
        ("{}", r"distill\.learning_rate: missing; add it \(a number\)"),
        ("{learning_rate: fast}", r"distill\.learning_rate: expected a number, found 'fast'"),
        ("{learning_rate: .nan}", r"distill\.learning_rate: expected a number of a usual size, found nan"),
        ("{learning_rate: 1e400}", r"distill\.learning_rate: expected a number of a usual size, found inf"),
        ("{learning_rate: 1, updates: 9223372036854775808}", r"distill\.updates: .* of a usual size, found 92"),
        ("{learning_rate: true}", r"distill\.learning_rate: expected a number, found True"),
        ("{learning_rate: 1, updates: 2.5}", r"distill\.updates: expected a whole number, found 2\.5"),
        ("{learning_rate: 1, updates: true}", r"distill\.updates: expected a whole number, found True"),
        ("{learning_rate: 1, updates: 0}", r"distill\.updates: must be at least 1, found 0"),
        ("{learning_rate: 1, shuffle: 1}", r"distill\.shuffle: expected true or false, found 1"),
        ("{learning_rate: 1, sizes: [1, x]}", r"distill\.sizes\[1\]: expected a whole number, found 'x'"),
        ("{learning_rate: 1, sizes: 3}", r"distill\.sizes: expected a list"),
        ("{learning_rate: 1, weights: {x: y}}", r"distill\.weights\.x: expected a number, found 'y'"),
        ("{learning_rate: 1, inner: {row: 1}}", r"distill\.inner\.row: unknown key; did you mean `rows`\?"),
        ("3", r"distill: expected a mapping of keys, found 3"),
    ],
)
def test_mistakes_name_file_key_and_remedy(tmp_path, section, message):
    with pytest.raises(ParamsError, match=r"params\.yaml: " + message):
        load(tmp_path, f"distill: {section}")


def test_missing_section_is_suggested(tmp_path):
    with pytest.raises(ParamsError, match=r"section `distill` is missing; did you mean `distil`\?"):
        load(tmp_path, "distil: {learning_rate: 1}")


@pytest.mark.parametrize(("text", "message"), [("a: [1", "not YAML"), ("- 1", "expected a mapping of sections")])
def test_a_file_that_is_no_params_file(tmp_path, text, message):
    with pytest.raises(ParamsError, match=message):
        load(tmp_path, text)


def test_absent_file(tmp_path):
    with pytest.raises(ParamsError, match=r"nowhere\.yaml: no such file; .*git checkout"):
        params.load(tmp_path / "nowhere.yaml", "distill", Section)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a:\n\tb: 1\n", r"not YAML \(line 2: found character '\\t'"),
        (b"a: 1\na: 2\n", r'not YAML \(line 2: found duplicate key "a"'),
        (b"a: caf\xe9\n", r"not YAML \('utf-8' codec"),
    ],
)
def test_broken_yaml_is_told_in_one_line(tmp_path, content, message):
    (tmp_path / "params.yaml").write_bytes(content)
    with pytest.raises(ParamsError, match=r"params\.yaml: " + message) as raised:
        params.read_document(tmp_path / "params.yaml")
    assert "\n" not in str(raised.value)


def test_what_is_given_does_not_come_from_the_file(tmp_path):
    path = tmp_path / "params.yaml"
    path.write_text("distill: {learning_rate: 1.0}", encoding="utf-8")
    assert params.load(path, "distill", Section, updates=9).updates == 9
    path.write_text("distill: {learning_rate: 1.0, updates: 4}", encoding="utf-8")
    with pytest.raises(ParamsError, match=r"distill\.updates: unknown key"):
        params.load(path, "distill", Section, updates=9)


def test_an_entry_under_a_name_of_the_users_choice(tmp_path):
    path = tmp_path / "params.yaml"
    path.write_text("sources: {a-1: 'random:tiny', b: 3}", encoding="utf-8")
    assert params.load_entry(path, "sources", "a-1") == "random:tiny"
    for name in ("b", "c"):
        with pytest.raises(ParamsError, match=rf"params\.yaml: sources\.{name}: there is no such text"):
            params.load_entry(path, "sources", name)
    with pytest.raises(ParamsError, match="section `source` is missing; did you mean `sources`"):
        params.load_entry(path, "source", "a-1")


@pytest.mark.parametrize(("text", "message"), [("[]", "at least one"), ("a", "expected a list"), ("[1, 2, 1]", "twice"),
                                               ("[1, b]", r"seeds\[1\]: expected a whole number")])  # fmt: skip
def test_a_list_that_cannot_be_used(tmp_path, text, message):
    path = tmp_path / "params.yaml"
    path.write_text(f"seeds: {text}", encoding="utf-8")
    with pytest.raises(ParamsError, match=message):
        params.load_list(path, "seeds", int)


def test_a_list(tmp_path):
    path = tmp_path / "params.yaml"
    path.write_text("seeds: [17, 18]\nmodels: [a, b]", encoding="utf-8")
    assert params.load_list(path, "seeds", int) == [17, 18]
    assert params.load_list(path, "models", str) == ["a", "b"]
