"""docs/lmstudio.md: how to use the exported files, with the figures of the run that made them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqldojo.agent.prompt import opening
from sqldojo.agent.schema_budget import FittedSchema
from sqldojo.agent.tool_format import ToolFormat
from sqldojo.evaluation.score_tables import table
from sqldojo.export.report import difference_lines, score_lines, size_lines
from sqldojo.export.results import Results
from sqldojo.export.settings import ExportParams, file_path

_HEAD = """\
# LM Studio and llama.cpp

This page was written by `make export` and has the figures of that run; do not edit it. `sqldojo export` writes the same
files from any adapter (`--model`, `--adapter`, `--out`, `--quantise`).

## The files

`data/export/files` holds a GGUF file for each of `export.files` in `params.yaml`, `data/export/fused` the folder that
they are made of: MLX and transformers load it, and LM Studio's MLX engine on a Mac.
"""

_FILES_NOTE = """\
The adapter is added to the weights in float32 and the sum is rounded once, to bfloat16. `bf16` holds just these
numbers; llama.cpp makes the others of it. A k-type needs rows of a multiple of 256 numbers; where a model's rows have
another length, llama.cpp stores them in a type with more bits, as the table shows. Every file was loaded by llama.cpp's
library, its tokens and its template compared with the folder's, and its likeliest tokens with those of MLX. LM Studio
runs llama.cpp but was not itself part of this check.
"""

_CUT_NOTE = """
Their schema is longer than `agent.schema_characters`, so the model was trained on prompts that show what the question
is about and name the other tables. The one above is that of the first question below.
"""


def guide(
    found: Results,
    examples: Sequence[Mapping[str, Any]],
    ends_by_itself: tuple[int, int],
    params: ExportParams,
    tool_format: ToolFormat,
    schema: FittedSchema,
) -> str:
    """The page. `ends_by_itself` are the greedy submissions that do, and all of them. `schema` is as the prompt of the
    first example shows it.
    """
    parts = [
        _HEAD, "\n".join(size_lines(found)), _FILES_NOTE, "\n".join(difference_lines(found)),
        "## What quantising costs", "\n".join(score_lines(found)),
        _settings(params, tool_format, ends_by_itself), _prompt(tool_format, schema), _dialogue(tool_format),
        _examples(examples, params),
    ]  # fmt: skip
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _settings(params: ExportParams, tool_format: ToolFormat, ends_by_itself: tuple[int, int]) -> str:
    name = file_path(params.chain.base.parent, params.chain.name, params.example_file).name
    rows = [
        ["Temperature", "0", "the likeliest token, as `sqldojo ask` takes it"],
        ["Repeat Penalty", "1 (off)", "SQL repeats names; LM Studio's default punishes that"],
        ["Top K, Top P, Min P", "off", "without effect at temperature 0"],
        ["Context Length", "4096", "the schema, the question and a few results"],
        ["Stop Strings", ", ".join(f"`{end}`" for end in tool_format.call_ends), "one call a reply"],
    ]
    ended, calls = ends_by_itself
    return f"""\
## Settings

Put the file two folders below LM Studio's models, `sqldojo/{params.chain.name}` for instance, or run
`lms import {name}`. Then, in the model's settings:

{chr(10).join(table(["setting", "value", "why"], rows))}

The file carries temperature and repeat penalty for programs that read them (`general.sampling.*`). The stop strings are
needed: in training the agent takes a call as soon as it is complete, so only {ended} of {calls} greedy submissions
ended by themselves, and after the others the model goes on writing."""


def _prompt(tool_format: ToolFormat, schema: FittedSchema) -> str:
    cut = "" if schema.whole else _CUT_NOTE
    return f"""\
## The system prompt

Give the schema alone, a statement a line, as `sqlite3 FILE .schema` prints it. The template in the file puts the task
and the tools before it, so that the model reads what it was trained on. For the databases of
`data/databases/evaluation`:

```
{schema.text}
```
{cut}
Before that the template puts:

```
{opening("", "", tool_format)[0].content}
```

If your system prompt already has these lines, it is left as it is. A model with a thinking mode does not think unless
`enable_thinking` is set: it was trained without."""


def _dialogue(tool_format: ToolFormat) -> str:
    if tool_format.schemas:
        return """\
## A dialogue

Ask in words. The model calls its tools in its own format, which LM Studio and llama.cpp's server (`--jinja`) turn
into tool calls. Offer `run_sql` and `submit_sql` through the API; where no tools are offered, the template shows these
two."""
    run, submit = tool_format.call_ends[0], tool_format.call_ends[-1]
    return f"""\
## A dialogue

Ask in words. The model answers with one call, as text that ends in `{submit}` around the query that answers the
question, or in `{run}` around one whose first rows it wants to see. Run that in any SQLite program and send the rows as
your next message, with the column names in the first line and ` | ` between the values.

These tags are the model's own: LM Studio shows them as text and makes no tool calls of them. So a program offers it no
tools (llama.cpp's server would answer such a request with an error, since it knows no way of reading these calls) and
takes the query out of the text. The other way round works: in messages that a program sends, `tool_calls` become tags,
and results of the role `tool` become messages, as in training."""


def _examples(examples: Sequence[Mapping[str, Any]], params: ExportParams) -> str:
    rows = [
        [row["question"], row["split"], "right" if row["greedy"] else "wrong", f"{row['right']} of {row['attempts']}"]
        for row in examples
    ]
    right = sum(row["greedy"] for row in examples)
    drawn, attempts = sum(row["right"] for row in examples), sum(row["attempts"] for row in examples)
    return f"""\
## {len(examples)} questions to try

Asked of `{params.example_file}` through llama.cpp, once at temperature 0 and {params.example_attempts} times at
temperature 1. An answer is right when its result equals the reference's on four databases. The questions were chosen
before they were asked, the first of every few types: *reserved* ones are of trained types with values that were not
trained, *selection* ones of types that were never trained.

{chr(10).join(table(["question", "split", "temperature 0", "temperature 1"], rows))}

In all {right} of {len(examples)} at temperature 0 and {drawn} of {attempts} at temperature 1. So few questions say
little about a file; the table under "What quantising costs" has more."""
