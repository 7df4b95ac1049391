"""One call of a model behind an API, through litellm, and what is wrong with it when it is wrong.

Keys come from the environment, where litellm looks for them, and are struck out of every text that leaves here.
"""

from __future__ import annotations

import json
import logging
import os
import re
import warnings
from collections.abc import Mapping
from functools import cache
from types import ModuleType
from typing import Any

from sqldojo.errors import UserError
from sqldojo.records import ProviderCall, ProviderReply, ProviderRequest
from sqldojo.teacher.provider import ProviderParams

_SECRET_NAMES = ("KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL")
_SHORTEST_SECRET = 8
_REFUSED = range(400, 500)
_TRANSIENT = (408, 409, 429)
# What providers add to the name of a model that they were asked for: a date, a version, a plan.
_VERSION = re.compile(r"(-latest|:latest|:free|[-@]\d{3,}[\d.:-]*)$")


class Failed(Exception):
    """A call brought no usable reply: the `kind` of failure, and `detail` in words, without any key.

    `again` says whether another try may do better, `wait` the seconds that the provider asks for. `paid` is what the
    call cost in US dollars; None when nobody knows, because it broke off.
    """

    def __init__(self, kind: str, detail: str, *, again: bool, wait: float = 0.0, paid: float | None = 0.0) -> None:
        super().__init__(kind, detail)
        self.kind, self.detail, self.again, self.wait, self.paid = kind, detail, again, wait, paid


def complete(request: ProviderRequest, params: ProviderParams) -> ProviderReply:
    """The reply to one request, asked once.

    Failed for whatever is no reply of that model; UserError for a key that is missing or wrong, or an unknown model.
    """
    litellm = _litellm()
    _check_model(request.model)
    try:
        answer = litellm.completion(
            model=request.model,
            messages=[dict(message) for message in request.messages],
            tools=[dict(tool) for tool in request.tools] or None,
            temperature=request.temperature,
            max_tokens=request.max_tokens,
            timeout=params.seconds,
            max_retries=0,
            num_retries=0,
            drop_params=True,  # some models know no temperature
        )
    except tuple(litellm.exceptions.LITELLM_EXCEPTION_TYPES) as error:
        raise _what_failed(error, request.model) from None  # the cause may quote the key
    reply = _read(answer, request, params)
    if not answer.choices:
        raise Failed("NoChoice", "the reply has no choice", again=True, paid=reply.usd)
    if plain_name(reply.model) != plain_name(request.model):
        raise Failed("OtherModel", f"{reply.model} answered for {request.model}", again=True, paid=reply.usd)
    if not (reply.text or reply.calls or reply.finish == "length"):  # which is the model's own fault
        raise Failed("NoContent", f"the reply is empty ({reply.finish})", again=True, paid=reply.usd)
    return reply


def highest_price(request: ProviderRequest, params: ProviderParams) -> float:
    """What a request costs at most, in US dollars: no tokeniser makes more tokens than there are bytes.

    UserError for a model of unknown price, since no budget could be kept.
    """
    price = _price(request.model, params)
    sent = json.dumps([request.messages, request.tools], ensure_ascii=False)
    return (len(sent.encode()) * price[0] + request.max_tokens * price[1]) / 1e6


def redact(text: str) -> str:
    """The text with the value of every environment variable that looks like a secret struck out."""
    values = {name: value.strip() for name, value in os.environ.items()
              if any(word in name.upper() for word in _SECRET_NAMES)}  # fmt: skip
    for name, value in sorted(values.items(), key=lambda item: -len(item[1])):  # one may be a part of another
        if len(value) >= _SHORTEST_SECRET:
            text = text.replace(value, f"<{name}>")
    return text


def plain_name(model: str) -> str:
    """A model's name without its provider and version, so that one model has one name."""
    return _VERSION.sub("", model.lower().rpartition("/")[2])


@cache
def _litellm() -> ModuleType:
    """litellm, quiet: no look at the network or a .env file when it is imported, nothing written to logs."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    os.environ.setdefault("LITELLM_MODE", "PRODUCTION")
    import litellm

    litellm.telemetry = False
    litellm.suppress_debug_info = True
    warnings.filterwarnings("ignore", "Pydantic serializer warnings")  # they quote what the provider sent
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "httpx", "openai"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return litellm


@cache
def _check_model(model: str) -> None:
    """UserError for a model without a provider that litellm knows, or without its key in the environment."""
    litellm = _litellm()
    try:
        litellm.get_llm_provider(model)
    except litellm.exceptions.BadRequestError:
        raise UserError(
            f"params.yaml: model `{model}`: no provider that litellm knows; write `provider/model`, say `openai/NAME`"
        ) from None
    missing = litellm.validate_environment(model)["missing_keys"]
    if missing:
        raise UserError(f"{model}: no key; set the environment variable {' and '.join(missing)} and run this again")


def _what_failed(error: Any, model: str) -> Exception:
    kind, status = type(error).__name__, int(getattr(error, "status_code", None) or 500)
    detail = _clean(str(error)).partition("\n")[0][:300]
    headers: Mapping[str, str] = getattr(getattr(error, "response", None), "headers", None) or {}
    if status in (401, 403):
        variable = f"{_litellm().get_llm_provider(model)[1].upper()}_API_KEY"
        return UserError(f"{model}: the provider refuses the key ({kind}); correct the environment variable {variable}")
    if status == 404:
        return UserError(f"params.yaml: model `{model}`: its provider does not have it ({detail}); name another")
    refused = status in _REFUSED and status not in _TRANSIENT
    broke_off = status == 408 or not headers
    return Failed(kind, detail, again=not refused, wait=_seconds(headers), paid=None if broke_off else 0.0)


def _seconds(headers: Mapping[str, str]) -> float:
    text = headers.get("retry-after", "")
    return float(text) if re.fullmatch(r"\d+(\.\d+)?", text) else 0.0


def _read(answer: Any, request: ProviderRequest, params: ProviderParams) -> ProviderReply:
    """litellm's answer as a reply; an empty one for an answer without a choice."""
    usage = getattr(answer, "usage", None)
    tokens = (getattr(usage, "prompt_tokens", 0) or 0, getattr(usage, "completion_tokens", 0) or 0)
    message = answer.choices[0].message if answer.choices else None
    calls = tuple(
        ProviderCall(_clean(call.id), _clean(call.function.name), _clean(call.function.arguments))
        for call in getattr(message, "tool_calls", None) or ()
    )
    finish = answer.choices[0].finish_reason if answer.choices else ""
    return ProviderReply(
        text=_clean(getattr(message, "content", None)),
        calls=calls,
        finish=_clean(finish),
        model=_clean(answer.model or request.model),
        input_tokens=tokens[0],
        output_tokens=tokens[1],
        usd=_cost(answer, tokens, request, params),
    )


def _cost(answer: Any, tokens: tuple[int, int], request: ProviderRequest, params: ProviderParams) -> float:
    if not any(tokens):  # nobody says what it took
        return highest_price(request, params)
    listed = answer._hidden_params.get("response_cost")  # documented; knows about cached tokens
    if listed and request.model not in params.prices:
        return listed
    price = _price(request.model, params)
    return (tokens[0] * price[0] + tokens[1] * price[1]) / 1e6


def _price(model: str, params: ProviderParams) -> tuple[float, ...]:
    """US dollars for a million tokens, input and output, as the params or else litellm list them."""
    if model in params.prices:
        return params.prices[model]
    prices = _litellm().model_cost
    listed = prices.get(model) or prices.get(model.partition("/")[2]) or {}
    by_token = [listed.get(f"{way}_cost_per_token") for way in ("input", "output")]
    if None in by_token:
        _check_model(model)
        raise UserError(
            f"params.yaml: providers.prices: nobody knows the price of {model}, so no budget can be kept; add "
            f"`{model}: [input, output]` in US dollars for a million tokens, [0, 0] for a model of your own"
        )
    return tuple(each * 1e6 for each in by_token)


def _clean(text: str | None) -> str:
    """A provider's text without keys and without halves of characters, which no file can hold."""
    return redact(text or "").encode("utf-8", "replace").decode()
