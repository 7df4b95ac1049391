"""Many episodes played at once: the one way a model acts, for evaluation and for training alike.

All running episodes are decoded together. What they share of their prompts (system prompt and schema) is computed once,
the rest of a question's prompt once for all attempts at it, and a tool's result extends the episode's own keys and
values, so no token is computed twice. Queries run while the others are decoded. An episode that ends makes room for a
waiting one; these and those with a result join a few at a time, since each joining costs a pass over the weights.

Sampling is at temperature 1, unfiltered, or greedy where that is asked for, so the stored log-probabilities are those
of the policy, in the precision of its logits. Every draw is named (seed, episode, turn, position), so an episode is the
same alone or in any batch unless a draw hangs on the last bits. These are the same too when a run is repeated and no
query takes longer than a second.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

from sqldojo.agent.episode import AgentLoop, AgentParams
from sqldojo.agent.tool_format import without_thought
from sqldojo.errors import UserError
from sqldojo.records import Episode
from sqldojo.training.decoding import Decoder, Prompt, RolloutCounts, Row
from sqldojo.training.dialogue import Dialogue, shared_prefix_length
from sqldojo.training.policy_model import PolicyModel

_PROMPTS_AT_ONCE = 16  # computed ahead of their attempts, together
_PROMPT_TOKENS_AT_ONCE = 8_192  # with padding, or one prompt: long ones have keys and scores that fill the memory
_JOINING_SHARE = 8  # rows join when they are this part of those that run
_THREADS = 16  # they only wait, for worker processes of which there are fewer
_PATIENCE_SECONDS = 1.0  # for a result, while the next step is computed; it joins at the same step in every run


def play(
    policy: PolicyModel,
    attempts: Sequence[AgentLoop],
    params: AgentParams,
    *,
    seed: int | str,
    width: int,
    counts: RolloutCounts | None = None,
    greedy: bool = False,
) -> Iterator[Episode]:
    """Play all attempts, at most `width` at a time; yields each episode as it ends, so in no fixed order.

    What is computed is added to `counts`. With `greedy` the likeliest token is taken each time, so that nothing hangs
    on the seed, and further attempts at a task repeat the first. An exception of an attempt is raised here.
    """
    if attempts:
        counts = counts if counts is not None else RolloutCounts()
        threads = ThreadPoolExecutor(_THREADS, "attempt")
        try:
            yield from _Rollout(
                policy,
                attempts,
                params,
                seed=seed,
                width=width,
                counts=counts,
                threads=threads,
                greedy=greedy,
            ).episodes()
        finally:
            threads.shutdown(wait=False, cancel_futures=True)


@dataclass(eq=False)
class _Playing:
    """An episode being played: its tokens as sampled, how many of them stand behind the prompt, its present reply."""

    attempt: AgentLoop
    tokens: list[int]
    action_mask: list[int]
    logprobs: list[float]
    spent: int = 0
    turn: int = 0
    reply: list[int] = field(default_factory=list)
    row: Row | None = None

    def extend(self, tokens: Sequence[int], *, sampled: Sequence[float] | None = None) -> None:
        self.tokens += tokens
        self.action_mask += [int(sampled is not None)] * len(tokens)
        self.logprobs += sampled if sampled is not None else [0.0] * len(tokens)
        self.spent += len(tokens)

    def room(self, params: AgentParams) -> int:
        """How many tokens the present reply may have."""
        return min(params.tokens_per_turn, params.tokens_per_episode - (self.spent - len(self.reply)))

    def episode(self) -> Episode:
        return self.attempt.episode(tokens=self.tokens, action_mask=self.action_mask, logprobs=self.logprobs)


class _CallEnds:
    """Says whether a reply holds the end of a call, without reading the whole of it after every token."""

    def __init__(self, dialogue: Dialogue) -> None:
        self._decode, self._format = dialogue.tokenizer.decode, dialogue.tool_format
        self._last = {end[-1] for end in self._format.call_ends}
        self._candidates: dict[int, bool] = {}

    def in_reply(self, reply: Sequence[int]) -> bool:
        """Whether the text of the reply holds the end of a call, given that it did not before its last token."""
        token = reply[-1]
        if token not in self._candidates:
            # An ASCII character is one byte, so the token that completes a marker shows the marker's last character.
            text = self._decode([token])
            self._candidates[token] = any(last in text or not last.isascii() for last in self._last)
        if not self._candidates[token]:
            return False
        return self._format.is_over(without_thought(self._decode(list(reply))))


class _Rollout:
    """What one call of `play` keeps: attempts without a row, rows, replies that are worked on, and their results."""

    def __init__(
        self,
        policy: PolicyModel,
        attempts: Sequence[AgentLoop],
        params: AgentParams,
        *,
        seed: int | str,
        width: int,
        counts: RolloutCounts,
        threads: ThreadPoolExecutor,
        greedy: bool,
    ) -> None:
        self._policy, self._params, self._seed, self._width = policy, params, seed, width
        self._counts, self._threads = counts, threads
        self._call_ends = _CallEnds(policy.dialogue)
        prompts = [policy.dialogue.prompt(attempt.messages) for attempt in attempts]
        _check_context(policy, max(map(len, prompts)) + params.tokens_per_episode)
        # The last token of a prompt stands behind the prefix: its logits give the first sample.
        shared = min(shared_prefix_length(prompts), min(map(len, prompts)) - 1)
        self._decoder = Decoder(policy, prompts[0][:shared], counts, greedy=greedy)
        groups: dict[tuple[int, ...], list[_Playing]] = {}
        for attempt, prompt in zip(attempts, prompts, strict=True):
            playing = _Playing(attempt, list(prompt), [0] * len(prompt), [0.0] * len(prompt))
            groups.setdefault(tuple(prompt[shared:]), []).append(playing)
        self._groups = deque(groups.items())
        self._ready: deque[tuple[Prompt, _Playing]] = deque()
        self._by_row: dict[Row, _Playing] = {}
        self._asked: list[_Asked] = []
        self._late: list[_Asked] = []
        self._results: list[tuple[_Playing, list[int]]] = []

    def episodes(self) -> Iterator[Episode]:
        """All episodes as they end. A round takes the tokens of one step while the next step is computed."""
        while self._groups or self._ready or self._by_row:
            asked, self._asked = self._asked, []
            for row, token, logprob in self._decoder.step():
                self._take(self._by_row[row], token, logprob)
            wait([future for _, future in asked], timeout=_PATIENCE_SECONDS)
            asked = self._late + asked
            self._late = [(playing, future) for playing, future in asked if not future.done()]
            for playing, future in asked:
                if (playing, future) not in self._late:
                    yield from self._receive(playing, future.result())
            if not self._join() and not self._decoder.running and not self._asked:
                wait([future for _, future in self._late], return_when=FIRST_COMPLETED)

    def _take(self, playing: _Playing, token: int, logprob: float) -> None:
        """Append a sampled token. When it ends the reply, the attempt begins to work on it, in a thread."""
        room = playing.room(self._params)
        playing.extend([token], sampled=[logprob])
        playing.reply.append(token)
        self._counts.sampled_tokens += 1
        ended, full = token in self._policy.end_tokens, len(playing.reply) == room
        if ended or full or self._call_ends.in_reply(playing.reply):
            self._decoder.rest(playing.row)
            said = [token for token in playing.reply if token not in self._policy.end_tokens]
            text = self._policy.dialogue.tokenizer.decode(said)
            future = self._threads.submit(playing.attempt.reply, text, cut_off=full and not ended)
            self._asked.append((playing, future))

    def _receive(self, playing: _Playing, result: str | None) -> Iterator[Episode]:
        """Prepare the episode's next turn with a tool's result, or yield the episode when it is over."""
        if result is not None:
            bridge = self._policy.dialogue.bridge(result)
            ends = self._policy.end_tokens
            if playing.reply[-1] in ends and bridge[0] in ends:  # the model has ended its turn itself
                bridge = bridge[1:]
            playing.extend(bridge)
            playing.reply, playing.turn = [], playing.turn + 1
            if playing.spent >= self._params.tokens_per_episode:
                playing.attempt.stop_for_tokens()
            else:
                self._results.append((playing, bridge))
        if playing.attempt.outcome is not None:
            self._decoder.leave(playing.row)
            del self._by_row[playing.row]
            self._counts.episodes += 1
            yield playing.episode()

    def _join(self) -> bool:
        """Let rows join the batch when they are enough, or hardly any others run; whether any do."""
        room = self._width - self._decoder.size
        waiting = len(self._ready) + sum(len(group) for _, group in self._groups)
        joining = len(self._results) + min(room, waiting)
        if joining == 0 or joining * _JOINING_SHARE < self._decoder.running:
            return False
        while self._groups and len(self._ready) < room:
            self._compute_prompts()
        fresh = [self._ready.popleft() for _ in range(min(room, waiting))]
        rows = self._decoder.join(
            [(prompt, self._name(playing)) for prompt, playing in fresh],
            [(playing.row, bridge, self._name(playing)) for playing, bridge in self._results],
        )
        self._results = []
        for row, (_, playing) in zip(rows, fresh, strict=False):
            playing.row = row
            self._by_row[row] = playing
        return True

    def _compute_prompts(self) -> None:
        groups, longest = [], 0
        while self._groups and len(groups) < min(_PROMPTS_AT_ONCE, self._width):
            longest = max(longest, len(self._groups[0][0]))
            if groups and longest * (len(groups) + 1) > _PROMPT_TOKENS_AT_ONCE:
                break
            groups.append(self._groups.popleft())
        prompts = self._decoder.compute([prompt for prompt, _ in groups])
        self._ready += [
            (prompt, playing) for prompt, (_, group) in zip(prompts, groups, strict=True) for playing in group
        ]

    def _name(self, playing: _Playing) -> str:
        return f"{self._seed}/{playing.attempt.id}/{playing.turn}"


def _check_context(policy: PolicyModel, tokens: int) -> None:
    """UserError when an episode may become longer than the model can read."""
    context = getattr(policy.model.args, "max_position_embeddings", None)
    if context is not None and tokens > context:
        raise UserError(
            f"params.yaml: agent.tokens_per_episode: with the longest prompt an episode may have {tokens} tokens, but "
            f"the model reads {context}; lower it or `agent.schema_characters`, or choose another model"
        )


_Asked = tuple[_Playing, Future[str | None]]  # an attempt that works on its reply
