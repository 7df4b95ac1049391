"""A user's issue in words: what they want, and what they see instead.

What is seen was measured by running both queries (differences.py) and is told without a word of what mends it.
"""

from __future__ import annotations

import re
from random import Random

from sqldojo.repair import differences as d

# How a wish begins decides what may stand before it.
_BEFORE_A_QUESTION = (
    "The question to answer is: {wish}", "A colleague asked me: {wish}", "I have to answer this. {wish}",
    "My boss wants to know: {wish}", "I am stuck with a query. {wish}", "{wish}", "{wish}", "{wish}",
)  # fmt: skip
_BEFORE_AN_ORDER = (
    "My task: {wish}", "This is what the query should do. {wish}", "I am stuck with a query. {wish}",
    "The exercise says: {wish}", "{wish}", "{wish}", "{wish}",
)  # fmt: skip
_BEFORE_A_WISH = ("I am stuck with a query. {wish}", "{wish}", "{wish}", "It is for a report. {wish}")
_AFTER = {
    "question": ("The question was: {wish}", "It is meant to answer this: {wish}", "What I want to know: {wish}"),
    "order": ("The task: {wish}", "This is what I want: {wish}", "What it should do: {wish}"),
    "wish": ("{wish}",),
}
_CLOSINGS = ("", "", "", "What is wrong?", "What am I doing wrong?", "Can you correct it?", "Please help.",
             "How do I get the right result?", "Where is my mistake?", "Can somebody fix this?")  # fmt: skip
_FIRST_REMARKS = ("My query does not work.", "Something is wrong with my query.", "I cannot get this query right.",
                  "Help with a query, please.", "")  # fmt: skip
_BEHIND_AN_ERROR = (
    "Even without that error the answer is wrong: {seen}",
    "A version of it that ran was wrong too: {seen}",
    "I once had it running, and then the answer was wrong: {seen}",
    "And there is more: in a variant that runs, {seen}",
)
_PLAIN_BEGINNINGS = frozenset(("The", "There", "It", "Some", "Nothing", "None", "Rows", "All", "Only", "My", "For",
                               "That", "Something", "Why", "Where", "At"))  # fmt: skip
_BESIDES = ("Apart from that,", "Besides,", "And another thing:")

_PHRASES = {
    d.ERROR: (
        "SQLite answers: {message}.",
        "It stops with this error: {message}.",
        "All I get is an error: {message}.",
        "It does not run. The message is: {message}.",
        "When I run it I get: {message}.",
        "The database says: {message}.",
        "It fails with: {message}.",
        "Error: {message}.",
    ),
    d.EMPTY: (
        "I get no rows at all.",
        "The result is empty, but I know that there is data.",
        "My result is empty; there should be {wanted_rows}.",
        "Nothing comes back, not even {label}.",
        "I get an empty result, although at least {label} should be in it.",
        "It runs without an error and returns nothing.",
    ),
    d.ONE_VALUE: (
        "I get {got_value}, but it should be {wanted_value}.",
        "The result is {got_value}; counted by hand it is {wanted_number}.",
        "It says {got_value}. The right answer is {wanted_value}.",
        "It gives {got_value} instead of {wanted_value}.",
        "{got_value} comes out, and I know that it must be {wanted_value}.",
    ),
    d.MORE_COLUMNS: (
        "I get {got_columns} where there should be {wanted_columns}.",
        "There is a column too many in the result{added}.",
        "The result has {got_columns} instead of {wanted_columns}.",
    ),
    d.FEWER_COLUMNS: (
        "I get only {got_columns} where there should be {wanted_columns}.",
        "A column is missing from the result{lost}.",
        "The result has {got_columns} instead of {wanted_columns}.",
    ),
    d.SWAPPED_COLUMNS: (
        "The values stand under the wrong headings: {label} should not be in that column.",
        "The {column} and the {other} are in each other's place.",
        "The first thing that I see is {label}, and that belongs into another column.",
        "The columns come in the wrong order.",
    ),
    d.ORDER: (
        "The rows are in the wrong order: {label} comes at place {got}, where {other} should be.",
        "The right rows come back, but their order is wrong. At place {got} I expect {other}, not {label}.",
        "The order is not right; {other} should come before {label}.",
    ),
    d.REPEATED: (
        "{label} comes {got_times}, but should come {wanted_times}.",
        "I get {got_rows}, but there should be only {wanted_count}; {label}, for example, comes {got_times}.",
        "Some rows come several times. I get {got_rows} instead of {wanted_count}.",
        "There are repeated rows in my result: {label} is there {got_times}.",
    ),
    d.LOST_REPEATS: (
        "I get {got_rows}, but there should be {wanted_count}.",
        "{label} should come {wanted_times} and comes {got_times}: there are several of that name or value.",
        "Rows get lost: {got_rows} instead of {wanted_count}. {label} is one of those that come too rarely.",
    ),
    d.EXTRA: (
        "I get {got_rows}, but there should be only {wanted_count}.",
        "{label} is in the result, but should not be there.",
        "There are too many rows: {got_count} instead of {wanted_count}.",
        "I get {got_rows} instead of {wanted_count}; {label}, for example, does not belong there.",
        "Why is {label} in my result? It should not be.",
    ),
    d.MISSING: (
        "I get only {got_rows}, but there should be {wanted_count}.",
        "{label} is missing from the result.",
        "Some rows are missing: I get {got_count} instead of {wanted_count}.",
        "I get {got_rows} where there should be {wanted_count}; {label}, for example, is missing.",
        "Where is {label}? It should be in the result.",
    ),
    d.VALUES: (
        "For {label} I get {got_value}, but it should be {wanted_value}.",
        "The {column} is wrong: {label} has {got_value} instead of {wanted_value}.",
        "{label} comes out with {got_value}; the right value is {wanted_value}.",
        "For {label} I get {got_value}, and our old list has {wanted_value}.",
        "{wrong_rows} of {wanted_rows} have a wrong {column}, for example {label}: {got_value} where I expect "
        "{wanted_value}.",
    ),
    d.MIXED: (
        "{label} is in the result and should not be, while {other} is missing.",
        "Some rows are right, others are not: {label} does not belong there.",
        "Not all rows are the right ones. I expect {other}, for example, and it is not there.",
        "{other} is missing, and there are rows that I did not ask for, such as {label}.",
        "I get {several_rows} (there should be {wanted_count}), and some of them are wrong.",
    ),
    d.ALL_WRONG: (
        "None of the rows is right.",
        "I get {several_rows}, and not one of them is right; there should be {wanted_count}.",
        "The result is completely wrong: {label} should not be there at all.",
        "The result is completely wrong. I expect {other}, for example, and get {label}.",
    ),
}  # fmt: skip
_TRAITS_OF_ONE = {"higher": ("That is too high.", "That is too much."), "lower": ("That is too low.",)}
_TRAITS = {
    "higher": ("The numbers are too high.", "What is wrong is always too high."),
    "lower": ("The numbers are too low.", "What is wrong is always too low.", "Something gets lost in the numbers."),
    "whole": ("Only whole numbers come out, without decimals.", "The decimals are gone.",
              "I get whole numbers where I expect fractions."),
    "zero": ("All those that should have 0 are missing.", "It leaves out everything that has none."),
    "nothing": ("The value stays empty.", "There is no value where one should be."),
    "reversed": ("The order is the wrong way round.", "The list comes from the wrong end."),
}  # fmt: skip
_RUNNING = re.compile(r"\b(?:has|have|had|do|does|did|is|are|was|were)\b")


def issue(wish: str, seen: str, random: Random) -> str:
    """The words of an issue: the wish (a question or an order) and what is seen, in one of many forms."""
    closing = random.choice(_CLOSINGS)
    wish = _wish(wish, random)
    if random.random() < 0.7:
        before = {"question": _BEFORE_A_QUESTION, "order": _BEFORE_AN_ORDER, "wish": _BEFORE_A_WISH}[_form(wish)]
        parts = [random.choice(before).format(wish=wish), seen, closing]
    else:
        parts = [random.choice(_FIRST_REMARKS), seen, random.choice(_AFTER[_form(wish)]).format(wish=wish), closing]
    return " ".join(part for part in parts if part)


def describe(found: d.Finding, random: Random) -> str:
    """What is seen, in a sentence or two."""
    values = _values(found)
    fitting = [phrase for phrase in _PHRASES[found.what] if all(values[field] for field in _fields(phrase))]
    phrases = fitting or ["The result is not right."]
    seen = _capital(random.choice(phrases).format(**values))
    of_one = _TRAITS_OF_ONE.get(found.trait) if found.what == d.ONE_VALUE else None
    traits = of_one or _TRAITS.get(found.trait, ())
    if not traits or random.random() < 0.5:
        return seen
    trait = random.choice(traits)
    return f"{seen} {trait}" if of_one or random.random() < 0.5 else f"{trait} {seen}"


def behind(error: str, seen: str, random: Random) -> str:
    """What is seen where an error hides a second fault: the error, and what comes out without it."""
    return f"{error} {random.choice(_BEHIND_AN_ERROR).format(seen=_continued(seen))}"


def besides(first: str, second: str, random: Random) -> str:
    """Two things that are seen: the wrong columns, and what else is wrong."""
    return f"{first} {random.choice(_BESIDES)} {_continued(second)}"


def _continued(sentence: str) -> str:
    """The sentence in small letters, unless it begins with a value or with `I`."""
    first = sentence.partition(" ")[0]
    return sentence[0].lower() + sentence[1:] if first in _PLAIN_BEGINNINGS else sentence


def _values(found: d.Finding) -> dict[str, str]:
    def count(number: int, noun: str) -> str:
        return f"{number} {noun}" if number == 1 else f"{number} {noun}s"

    return {
        "message": found.message,
        "label": found.label,
        "other": found.other,
        "column": found.column,
        "got": str(found.got),
        "got_value": found.got_value,
        "wanted_value": found.wanted_value,
        "wanted_number": found.wanted_value if re.fullmatch(r"-?\d+(\.\d+)?", found.wanted_value) else "",
        "got_count": str(found.got),
        "wanted_count": str(found.wanted),
        "got_rows": count(found.got, "row"),
        "several_rows": count(found.got, "row") if found.got > 1 and found.got != found.wanted else "",
        "wanted_rows": count(found.wanted, "row"),
        "wrong_rows": str(found.got) if found.wanted > 1 else "",
        "got_columns": count(found.got, "column"),
        "wanted_columns": count(found.wanted, "column"),
        "got_times": _times(found.got_value),
        "wanted_times": _times(found.wanted_value),
        "added": f": nobody asked for the {found.column}" if found.column not in ("", "number") else " ",
        "lost": f": the {found.column}" if found.column not in ("", "number") else " ",
    }


def _times(number: str) -> str:
    return {"": "", "1": "once", "2": "twice"}.get(number, f"{number} times")


def _fields(phrase: str) -> list[str]:
    return re.findall(r"\{(\w+)\}", phrase)


def _capital(sentence: str) -> str:
    sentence = sentence.replace(" .", ".")
    return sentence[:1].upper() + sentence[1:]


def _form(wish: str) -> str:
    """Whether a wish is a question, an order, or a sentence about oneself."""
    if wish.startswith(("I ", "We ", "My ", "Our ")):
        return "wish"
    return "question" if wish.partition(". ")[0].partition(": ")[0].endswith("?") or "? " in wish else "order"


def _wish(wish: str, random: Random) -> str:
    """The wish as it is, or as a sentence about oneself where its first words allow that."""
    first, _, rest = wish.partition("? ")
    if wish.startswith(("Which ", "How many ", "Who ")) and (rest or wish.endswith("?")):
        asked = first.rstrip("?")
        if random.random() < 0.5 and not _RUNNING.search(asked):
            lead = random.choice(("I want to know", "I would like to know", "I need to find out", "I need to know"))
            return f"{lead} {asked[0].lower()}{asked[1:]}. {_should(rest, random)}".strip()
    verb = wish.partition(" ")[0]
    if verb in ("List", "Show", "Find", "Count", "Rank") and random.random() < 0.5:
        lead = random.choice(("I want to", "I would like to", "I am trying to", "I need to"))
        return f"{lead} {verb.lower()}{wish[len(verb) :]}"
    return wish


def _should(rest: str, random: Random) -> str:
    """`Return only the name` as what the result should be."""
    if rest.startswith("Return ") and random.random() < 0.7:
        lead = random.choice(("It should return", "My query should return", "The result should be"))
        return f"{lead}{rest[len('Return') :]}"
    return rest
