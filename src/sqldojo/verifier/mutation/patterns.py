"""Faults in matching text: anchors, upper and lower case, = for LIKE, GLOB for LIKE."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from sqldojo.verifier.mutation.edits import Edit, rewritten, set_arguments, swap
from sqldojo.verifier.mutation.names import TEXT, kind
from sqldojo.verifier.mutation.scopes import Query


def like_anchor(query: Query) -> Iterator[Edit]:
    """% dropped from or added to the ends of a LIKE pattern."""
    for node, pattern in _patterns(query, exp.Like):
        core = pattern.strip("%")
        if core:
            for text in (core, f"{core}%", f"%{core}", f"%{core}%"):
                if text != pattern:
                    yield set_arguments(node, expression=exp.Literal.string(text))


def like_wildcard_lost(query: Query) -> Iterator[Edit]:
    """A single _ or % inside a pattern taken for an ordinary character of another kind: _ for %, % for _."""
    for node, pattern in _patterns(query, exp.Like):
        for wildcard, other in (("_", "%"), ("%", "_")):
            if wildcard in pattern[1:-1]:
                inner = pattern[1:-1].replace(wildcard, other)
                yield set_arguments(node, expression=exp.Literal.string(pattern[0] + inner + pattern[-1]))


def like_as_equality(query: Query) -> Iterator[Edit]:
    """= for LIKE: upper and lower case count then, and wildcards are letters."""
    for node, pattern in _patterns(query, exp.Like):
        if "_" not in pattern and pattern.strip("%") and not isinstance(node.parent, exp.Escape):
            equals = exp.EQ(this=node.this.copy(), expression=exp.Literal.string(pattern.strip("%")))
            yield swap(node, exp.Not(this=equals) if node.args.get("negate") else equals)


def like_as_glob(query: Query) -> Iterator[Edit]:
    """GLOB for LIKE: upper and lower case count then."""
    for node, pattern in _patterns(query, exp.Like):
        if not isinstance(node.parent, exp.Escape) and not any(letter in pattern for letter in "*?["):
            text = exp.Literal.string(pattern.replace("%", "*").replace("_", "?"))
            glob = exp.Glob(this=node.this.copy(), expression=text)
            yield swap(node, exp.Not(this=glob) if node.args.get("negate") else glob)


def glob_as_like(query: Query) -> Iterator[Edit]:
    """LIKE for GLOB: upper and lower case do not count then."""
    for node, pattern in _patterns(query, exp.Glob):
        if "[" not in pattern:
            like = exp.Literal.string(pattern.replace("*", "%").replace("?", "_"))
            yield swap(node, exp.Like(this=node.this.copy(), expression=like))


def escape_dropped(query: Query) -> Iterator[Edit]:
    """ESCAPE left out, so that the wildcard that was meant as a letter is one, and the escape character a letter."""
    for node in query.all(exp.Escape):
        yield swap(node, node.this.copy())
        like, mark = node.this, node.expression
        if isinstance(like, exp.Like) and like.expression.is_string and mark.is_string:
            plain = exp.Literal.string(like.expression.this.replace(mark.this, ""))
            yield swap(node, exp.Like(this=like.this.copy(), expression=plain, negate=like.args.get("negate")))


def equality_as_like(query: Query) -> Iterator[Edit]:
    """LIKE for =: once with the text alone (case does not count), once anywhere within."""
    for node in query.all(exp.EQ):
        if isinstance(node.this, exp.Column) and node.expression.is_string and node.expression.this:
            for text in (node.expression.this, f"%{node.expression.this}%"):
                yield swap(node, exp.Like(this=node.this.copy(), expression=exp.Literal.string(text)))


def folding_dropped(query: Query) -> Iterator[Edit]:
    """LOWER, UPPER or COLLATE NOCASE left out."""
    for node in query.all(exp.Lower, exp.Upper, exp.Collate):
        yield swap(node, node.this.copy())


def folding_added(query: Query) -> Iterator[Edit]:
    """LOWER put around a text that is compared, grouped by, made distinct or listed."""
    for node in query.all(exp.EQ):
        if (
            isinstance(node.this, exp.Column)
            and node.expression.is_string
            and node.expression.this.lower() != node.expression.this.upper()
        ):
            lower = exp.Literal.string(node.expression.this.lower())
            yield swap(node, exp.EQ(this=exp.Lower(this=node.this.copy()), expression=lower))
    for node in query.all(exp.Column):
        grouped = isinstance(node.parent, exp.Group)
        distinct = isinstance(node.parent, exp.Distinct) and isinstance(node.parent.parent, exp.Count)
        listed = isinstance(node.parent, exp.Select) and bool(node.parent.args.get("distinct"))
        if (grouped or distinct or listed) and kind(node.name) == TEXT and not isinstance(node.this, exp.Star):
            yield rewritten(node, lambda copy: exp.Lower(this=copy))
    for node in query.all(exp.Alias):
        distinct = isinstance(node.parent, exp.Select) and bool(node.parent.args.get("distinct"))
        if distinct and isinstance(node.this, exp.Column) and kind(node.this.name) == TEXT:
            yield swap(node.this, exp.Lower(this=node.this.copy()))


def _patterns(query: Query, operator: type[exp.Expr]) -> Iterator[tuple[exp.Expr, str]]:
    for node in query.all(operator):
        if node.expression.is_string:
            yield node, node.expression.this
