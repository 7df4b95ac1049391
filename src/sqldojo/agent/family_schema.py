"""The schema of a family's databases as prompts show it: whole where it is short, else what each question is about.

Lengths are counted in characters and not in tokens, because a teacher's demonstrations are shared by all models.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sqldojo.agent.prompt import opening
from sqldojo.agent.schema_budget import FittedSchema, fit_schema
from sqldojo.agent.tool_format import ToolFormat
from sqldojo.databases.outline import Outline, read_outlines
from sqldojo.databases.schema import schema_text
from sqldojo.records import Message


@dataclass(frozen=True)
class FamilySchema:
    """A schema, and the most characters that a prompt holds of it; `tables` are read only where it has more."""

    text: str
    most_characters: int
    tables: tuple[Outline, ...]

    @property
    def whole(self) -> bool:
        """Whether prompts hold all of it."""
        return len(self.text) <= self.most_characters

    def shown_for(self, question: str) -> FittedSchema:
        """What the prompt of a question holds; UserError where not even one column fits."""
        return fit_schema(self.text, lambda: self.tables, question, self.most_characters, len, unit="characters",
                          setting="`agent.schema_characters` in params.yaml")  # fmt: skip

    def opening(self, question: str, tool_format: ToolFormat) -> tuple[Message, ...]:
        """The messages that start an episode at a question; UserError as above."""
        return opening(question, self.shown_for(question).text, tool_format)


def read_family_schema(database: Path, most_characters: int) -> FamilySchema:
    """The schema of a database file; UserError when it cannot be read or holds no table."""
    text = schema_text(database)
    return FamilySchema(text, most_characters, () if len(text) <= most_characters else read_outlines(database))
