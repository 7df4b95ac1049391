"""Many episodes played at once: the one way a model acts, for evaluation and for training alike.

mlx-lm's BatchGenerator decodes all running episodes together. What they share of their prompts (system prompt and
schema) is computed once; a tool's result extends the episode's own cache, so no token is prefilled twice. An episode
that ends leaves at once and a waiting one takes its place. Sampling is at temperature 1, unfiltered, so the stored
log-probabilities are those of the policy, in the precision of its logits; every token's random key is derived from
(seed, episode, turn, position), so an episode is the same alone or in any batch unless a draw hangs on the last bits.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import mlx.core as mx
from mlx_lm.generate import BatchGenerator
from mlx_lm.models.cache import make_prompt_cache

from sqldojo.agent.episode import AgentParams, Attempt
from sqldojo.records import Episode
from sqldojo.training.dialogue import shared_prefix_length
from sqldojo.training.policy_model import PolicyModel


@dataclass
class _Row:
    """An episode being played: its attempt, its tokens as sampled, and the cache that holds all but `pending`."""

    attempt: Attempt
    pending: list[int]
    cache: list[Any] | None
    cached: list[int]
    tokens: list[int]
    action_mask: list[int]
    logprobs: list[float]
    turn: int = 0
    spent: int = 0
    reply: list[int] = field(default_factory=list)

    def extend(self, tokens: Sequence[int], *, sampled: Sequence[float] | None = None) -> None:
        self.tokens += tokens
        self.action_mask += [int(sampled is not None)] * len(tokens)
        self.logprobs += sampled if sampled is not None else [0.0] * len(tokens)

    def episode(self) -> Episode:
        return self.attempt.episode(tokens=self.tokens, action_mask=self.action_mask, logprobs=self.logprobs)


def play(
    policy: PolicyModel, attempts: Sequence[Attempt], params: AgentParams, *, seed: int, width: int
) -> Iterator[Episode]:
    """Play all attempts, at most `width` at a time; yields each episode as it ends, so in no fixed order."""
    if not attempts:
        return
    waiting = deque(_opening_rows(policy, attempts))
    running: dict[int, _Row] = {}
    generator = BatchGenerator(
        policy.model,
        stop_tokens=[[token] for token in sorted(policy.end_tokens)],
        completion_batch_size=width,
        prefill_batch_size=width,
    )
    try:
        while waiting or running:
            _admit(generator, waiting, running, params, seed=seed, width=width)
            _, responses = generator.next()
            yield from _advance(policy, generator, responses, waiting, running, params)
    finally:
        generator.close()


def _opening_rows(policy: PolicyModel, attempts: Sequence[Attempt]) -> Iterator[_Row]:
    """Rows whose shared start is already in a cache, computed once for all of them."""
    prompts = [policy.dialogue.prompt(attempt.messages) for attempt in attempts]
    # The last token of a prompt must stay pending: its logits give the first sample.
    shared = min(shared_prefix_length(prompts), min(map(len, prompts)) - 1)
    prefix, cache = prompts[0][:shared], None
    if prefix:
        cache = make_prompt_cache(policy.model)
        policy.body(mx.array([prefix]), cache=cache)
        mx.eval([layer.state for layer in cache])
    for attempt, prompt in zip(attempts, prompts, strict=True):
        row = _Row(attempt, prompt[shared:], cache, list(prefix), [], [], [])
        row.extend(prompt)
        yield row


def _admit(
    generator: BatchGenerator,
    waiting: deque[_Row],
    running: dict[int, _Row],
    params: AgentParams,
    *,
    seed: int,
    width: int,
) -> None:
    """Fill free places from the queue, all in one insertion, since each join copies the whole batch's cache."""
    rows = [waiting.popleft() for _ in range(min(width - len(running), len(waiting)))]
    if not rows:
        return
    uids = generator.insert(
        [row.pending for row in rows],
        max_tokens=[min(params.tokens_per_turn, params.tokens_per_episode - row.spent) for row in rows],
        caches=[row.cache for row in rows],
        all_tokens=[list(row.cached) for row in rows],
        samplers=[keyed_sampler(f"{seed}/{row.attempt.id}/{row.turn}") for row in rows],
    )
    for uid, row in zip(uids, rows, strict=True):
        row.cache = None  # the generator's own from here on
        running[uid] = row


def _advance(
    policy: PolicyModel,
    generator: BatchGenerator,
    responses: Sequence[Any],
    waiting: deque[_Row],
    running: dict[int, _Row],
    params: AgentParams,
) -> Iterator[Episode]:
    """Take one decoded token for each running row; a row whose turn is over ends or goes back to the queue's head."""
    if not responses:
        return
    logprobs = mx.stack([response.logprobs[response.token] for response in responses]).tolist()
    over: list[tuple[int, str]] = []
    complete: list[int] = []
    for response, logprob in zip(responses, logprobs, strict=True):
        row = running[response.uid]
        row.extend([response.token], sampled=[logprob])
        row.reply.append(response.token)
        row.spent += 1
        text = policy.dialogue.tokenizer.decode([t for t in row.reply if t not in policy.end_tokens])
        if response.finish_reason is not None or any(end in text for end in policy.dialogue.tool_format.call_ends):
            over.append((response.uid, text))
            if response.finish_reason is None:
                complete.append(response.uid)
    caches = generator.remove(complete, return_prompt_caches=True) if complete else {}
    finished = {r.uid: (r.prompt_cache, r.all_tokens) for r in responses if r.finish_reason is not None}
    for uid, text in over:
        row = running.pop(uid)
        cache, cached = finished[uid] if uid in finished else caches[uid]
        cut_off = uid in finished and row.reply[-1] not in policy.end_tokens
        result = row.attempt.reply(text, cut_off=cut_off)
        if result is not None:
            _prepare_next_turn(policy, row, result, cache, cached, params)
        if row.attempt.outcome is None:
            waiting.appendleft(row)
        else:
            yield row.episode()


def _prepare_next_turn(
    policy: PolicyModel, row: _Row, result: str, cache: list[Any], cached: list[int], params: AgentParams
) -> None:
    bridge = policy.dialogue.bridge(result)
    row.extend(bridge)
    row.spent += len(bridge)
    row.pending, row.cache, row.cached = bridge, cache, cached
    row.reply, row.turn = [], row.turn + 1
    if row.spent >= params.tokens_per_episode:
        row.attempt.stop_for_tokens()


def keyed_sampler(name: str) -> Callable[[mx.array], mx.array]:
    """Draws from logprobs [1, V]; the n-th draw depends on `name`, n and the probabilities, and on nothing else."""
    position = 0

    def sample(logprobs: mx.array) -> mx.array:
        nonlocal position
        digest = hashlib.blake2b(f"{name}/{position}".encode(), digest_size=8).digest()
        position += 1
        return mx.random.categorical(logprobs, key=mx.random.key(int.from_bytes(digest)))

    return sample
