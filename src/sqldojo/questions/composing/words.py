"""English for the names of a schema, and the better words that a person may give instead."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import inflect

_SMALL = r"[^\W\d_A-Z]"  # any letter but the capitals that PascalCase is made of: größe is one word
_PARTS = re.compile(rf"[A-Z]+(?!{_SMALL})|[A-Z]?{_SMALL}+|\d+")
_NO_PLURAL = ("ss", "us", "is")  # status and address are no plurals, though they end in s

# What a row of a table may be called that one says `who` of.
PEOPLE = frozenset(
    (
        "actor", "artist", "author", "client", "coach", "customer", "director", "driver", "employee", "instructor",
        "member", "musician", "passenger", "patient", "person", "physician", "player", "professor", "singer", "student",
        "teacher", "user",
    )
)  # fmt: skip


@dataclass(frozen=True)
class Noun:
    """What one of something is called, and several."""

    one: str
    many: str

    def of(self, owner: Noun) -> Noun:
        """The noun with its owner's before it, unless it says that already: `product category`."""
        if self.one.startswith(owner.one):
            return self
        return Noun(f"{owner.one} {self.one}", f"{owner.one} {self.many}")


@dataclass(frozen=True)
class Measure:
    """An amount that is computed: `sql` has `{t}` before each column, `meaning` is a sentence for every question."""

    words: Noun
    sql: str
    meaning: str


@dataclass(frozen=True)
class Words:
    """Better words than the names of one schema give. Every key may be missing.

    `conditions` maps a table, a column and a kind of condition to predicates in the plural with `{}` for each value:
    ("customers", "city", "equal") to ("live in {}",). `links` maps a table and the table it refers to to predicates
    with `{}` for the latter: ("orders", "customers") to ("were placed by {}",). `counted` maps a table to a column and
    the sentence that says which values of it count when no condition names it. `measures` maps a table to
    amounts that are computed.
    """

    tables: Mapping[str, Noun] = field(default_factory=dict)
    columns: Mapping[tuple[str, str], Noun] = field(default_factory=dict)
    conditions: Mapping[tuple[str, str, str], tuple[str, ...]] = field(default_factory=dict)
    links: Mapping[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    counted: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    measures: Mapping[str, Sequence[Measure]] = field(default_factory=dict)


@cache
def _english() -> inflect.engine:
    """Loaded when it is needed: it takes a second, and the command line imports this module for everything."""
    import inflect

    return inflect.engine()


def spaced(name: str) -> str:
    """The words of a snake_case or PascalCase name, in lower case: `InvoiceLine` and `invoice_line` alike."""
    return " ".join(part.lower() for part in _PARTS.findall(name)) or name


def noun(name: str) -> Noun:
    """The noun that a name stands for, be it in the singular or in the plural."""
    words = spaced(name).split(" ")
    last = words[-1]
    singular = _english().singular_noun(last) if _is_plural(last) else False
    one = " ".join((*words[:-1], singular or last))
    many = " ".join((*words[:-1], last if singular else _english().plural_noun(last)))
    return Noun(one, many)


def column_noun(name: str, owner: str = "") -> Noun:
    """The noun for a column, without its owner's: `milliseconds` has no singular, `hired_on` is a hired date."""
    one = re.sub(" (on|at)$", " date", spaced(name)).removeprefix(f"{owner} ")
    return Noun(one, one if _is_plural(one) else _english().plural_noun(one))


def with_article(text: str) -> str:
    """The text after `a` or `an`; as it is when it is a plural."""
    return text if _is_plural(text.split(" of ")[0]) else _english().a(text)


def _is_plural(text: str) -> bool:
    return not text.endswith(_NO_PLURAL) and bool(_english().singular_noun(text.split(" ")[-1]))


def sentence(text: str) -> str:
    """The text with single spaces, none before a full stop, and a capital letter at the beginning of each sentence."""
    tidy = re.sub(r"\s+([,.:?;])", r"\1", " ".join(text.split()))
    tidy = re.sub(r",+([.:?;,])", r"\1", tidy)  # an aside that ends a sentence
    return re.sub(r"(?:^|(?<=[.?] ))[a-z]", lambda letter: letter[0].upper(), tidy)


def joined(predicates: Sequence[str]) -> str:
    """Predicates as one, what they share said once: `have a price below 5 and no category`."""
    if all(each.startswith("have ") for each in predicates):
        return "have " + " and ".join(each.removeprefix("have ") for each in predicates)
    first, *others = predicates
    start = first.split(" ")[:2]
    if start[0] == "were":  # were placed in 2020 and by customers
        others = [each.removeprefix(" ".join(start) + " ") for each in others]
    return " and ".join([first, *others])


def listed(words: Sequence[str]) -> str:
    """`the name, the price and the city` of three words."""
    *first, last = [f"the {word}" for word in words]
    return f"{', '.join(first)} and {last}" if first else last
