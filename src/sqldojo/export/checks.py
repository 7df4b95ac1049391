"""Whether llama.cpp does with an exported file what MLX does with the folder it was made of: tried, not assumed.

The file is loaded; its template, its end tokens and its way of cutting text into tokens are compared with the folder's;
then both write the likeliest tokens after the same prompts. For BF16 both have the same weights, so they must agree
unless two tokens are as good as equally likely: llama.cpp rounds what it multiplies with to bfloat16, MLX on a CPU does
not. A smaller file may well differ, and how early it does is a figure of the report.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy

from sqldojo.errors import UserError
from sqldojo.export.gguf_tokenizer import CONVERTER_REMEDY
from sqldojo.export.llama_model import LlamaModel
from sqldojo.export.llama_playing import NextTokens
from sqldojo.records import Message
from sqldojo.training.decoding import Decoder, RolloutCounts
from sqldojo.training.dialogue import shared_prefix_length
from sqldojo.training.policy_model import PolicyModel

TOKENS = 32  # after each prompt
# Of two tokens' logits, in nats: rounding to bfloat16 moves a logit by a few hundredths.
NEAR_TIE = 0.1

# Texts in which tokenizers that are cut in another way differ: digits, spaces, apostrophes, other scripts, markup.
TRICKY_TEXTS = (
    "in 1984, 12.50  and 007",
    "it's  they'LL we're\n\n\n  x\t\ty \n",
    "SELECT name, 12.5\n  FROM \"café\" -- Łódź 😀\tWHERE x <> 'it''s'",
    "Ünïcödé ½ ² ٣ 数据库 данные\r\n",
    "<run_sql>SELECT 1</run_sql><|im_start|>x<|im_end|>",
)


@dataclass(frozen=True)
class Difference:
    """Where a file first writes another token than MLX: at which prompt and place, the two tokens as text.

    `margin` says by how much MLX's token has the larger logit there, under MLX, in nats.
    """

    prompt: int
    position: int
    mlx: str
    llama: str
    margin: float


@dataclass(frozen=True)
class Agreement:
    """How far a file writes what MLX writes: `equal` of `tokens` stand before the first difference of their prompt.

    `differences` holds that of each prompt where there is one.
    """

    prompts: int
    tokens: int
    equal: int
    differences: tuple[Difference, ...]

    @property
    def equal_prompts(self) -> int:
        """After how many prompts every token is the same."""
        return self.prompts - len(self.differences)

    def as_json(self) -> dict[str, Any]:
        """Plain values, for a metrics file."""
        return asdict(self)


def mlx_greedy(policy: PolicyModel, prompts: Sequence[Sequence[int]], count: int = TOKENS) -> list[list[int]]:
    """The `count` likeliest tokens after each prompt under MLX, fewer where one ends the turn."""
    shared = min(shared_prefix_length(prompts), min(map(len, prompts)) - 1)
    decoder = Decoder(policy, prompts[0][:shared], RolloutCounts(), greedy=True)
    computed = decoder.compute([prompt[shared:] for prompt in prompts])
    rows = decoder.join([(prompt, str(number)) for number, prompt in enumerate(computed)], [])
    written: dict[int, list[int]] = {id(row): [] for row in rows}
    while decoder.running:
        for row, token, _ in decoder.step():
            written[id(row)].append(token)
            if len(written[id(row)]) == count or token in policy.end_tokens:
                decoder.rest(row)
    return [written[id(row)] for row in rows]


def check_file(
    path: Path,
    policy: PolicyModel,
    prompts: Sequence[Sequence[Message]],
    expected: Sequence[Sequence[int]],
    *,
    exact: bool,
) -> Agreement:
    """How far llama.cpp agrees with MLX on the file at `path`, made of the folder that `policy` was loaded from.

    UserError when the file does not load, or holds another template, other end tokens or another tokenizer; with
    `exact` also when a token differs that MLX is sure of.
    """
    dialogue = policy.dialogue
    tokens = [dialogue.prompt(messages) for messages in prompts]
    with LlamaModel(path, max(map(len, tokens)) + TOKENS + 1) as model:
        _check_template(model, dialogue.tokenizer.chat_template)
        _check_tokenizer(model, dialogue.tokenizer, [dialogue.tokenizer.decode(prompt) for prompt in tokens])
        _check_ends(model, policy.end_tokens)
        agreement = compare(model, policy, tokens, expected)
    sure = [each for each in agreement.differences if each.margin > NEAR_TIE]
    if exact and sure:
        found = sure[0]
        raise UserError(
            f"{path}: after prompt {found.prompt} llama.cpp writes {found.llama!r} as token {found.position} where MLX "
            f"writes {found.mlx!r}, {found.margin:.2f} nats likelier; {CONVERTER_REMEDY}"
        )
    return agreement


def compare(
    model: NextTokens, policy: PolicyModel, prompts: Sequence[Sequence[int]], expected: Sequence[Sequence[int]]
) -> Agreement:
    """Let the model write what it finds likeliest after each prompt, as far as it goes along with MLX's `expected`."""
    differences, equal = [], 0
    for number, (prompt, wanted) in enumerate(zip(prompts, expected, strict=True)):
        written = list(prompt)
        for position, token in enumerate(wanted):
            found = int(numpy.argmax(model.logits(written)))
            if found != token:
                texts = (policy.dialogue.tokenizer.decode([each]) for each in (token, found))
                differences.append(Difference(number, position, *texts, _margin(policy, written, token, found)))
                break
            written.append(token)
            equal += 1
    return Agreement(len(prompts), sum(map(len, expected)), equal, tuple(differences))


def _margin(policy: PolicyModel, tokens: Sequence[int], wanted: int, found: int) -> float:
    logits = policy.head(policy.body(mx.array([list(tokens)]))[:, -1])[0].astype(mx.float32)
    return round((logits[wanted] - logits[found]).item(), 4)


def _check_template(model: LlamaModel, template: str) -> None:
    if model.chat_template() != template:
        raise UserError(f"{model.path}: llama.cpp reads another chat template than the folder has; export it again")


def _check_tokenizer(model: LlamaModel, tokenizer: Any, prompts: Sequence[str]) -> None:
    for text in (*TRICKY_TEXTS, *prompts):
        if model.tokenise(text) != tokenizer.encode(text, add_special_tokens=False):
            shown = text if len(text) <= 60 else f"{text[:57]}..."
            raise UserError(f"{model.path}: llama.cpp cuts {shown!r} into other tokens; {CONVERTER_REMEDY}")


def _check_ends(model: LlamaModel, end_tokens: frozenset[int]) -> None:
    missing = sorted(token for token in end_tokens if not model.ends(token))
    if missing:
        raise UserError(f"{model.path}: llama.cpp does not end a reply at token {missing[0]}; {CONVERTER_REMEDY}")
