"""Calls through litellm against a faulty provider on loopback, over real HTTP."""

from dataclasses import replace

import pytest
from faulty_provider import (
    ANSWER,
    BAD_KEY,
    BAD_REQUEST,
    BROKEN,
    BUSY,
    BUSY_FOR_2_SECONDS,
    CUT,
    KEY,
    NO_CHOICE,
    NO_CONTENT,
    NO_JSON,
    OTHER_MODEL,
    SLOW,
    WRONG_ARGUMENTS,
)

from sqldojo.errors import UserError
from sqldojo.records import ProviderRequest
from sqldojo.teacher import client
from sqldojo.teacher.client import Failed, complete, highest_price, redact
from sqldojo.teacher.provider import ProviderParams

MODEL = "openai/tiny"
PARAMS = ProviderParams(1.0, 4, 2, 1.0, "rows", {MODEL: (1.0, 10.0)})
TOOL = {"type": "function", "function": {"name": "run_sql", "parameters": {"type": "object", "properties": {}}}}
REQUEST = ProviderRequest(MODEL, ({"role": "user", "content": "Hello"},), (), 0.5, 32)


def test_reply_has_text_tokens_and_price(provider):
    reply = complete(REQUEST, PARAMS)
    assert (reply.text, reply.calls, reply.finish, reply.model) == ("You said: Hello", (), "stop", "tiny")
    assert (reply.input_tokens, reply.output_tokens, reply.usd) == (1000, 100, pytest.approx(0.002))
    (body,) = provider.calls
    assert (body["messages"], body["temperature"], body["max_tokens"]) == ([*REQUEST.messages], 0.5, 32)
    assert "tools" not in body and KEY in provider.headers[0]["authorization"]


def test_price_is_litellms_where_params_have_none(provider):
    reply = complete(ProviderRequest("openai/gpt-4o-mini", REQUEST.messages), PARAMS)
    assert reply.usd == pytest.approx(1000 * 0.15e-6 + 100 * 0.6e-6)


def test_a_reply_that_does_not_say_what_it_took_is_counted_at_its_highest_price(provider, monkeypatch):
    monkeypatch.setattr("faulty_provider.USAGE", None)
    assert complete(REQUEST, PARAMS).usd == highest_price(REQUEST, PARAMS) > 0


def test_no_call_costs_more_than_its_highest_price(provider):
    long = ProviderRequest(MODEL, ({"role": "user", "content": "é" * 500},), (TOOL,), max_tokens=7)
    assert 1000e-6 + 70e-6 < highest_price(long, PARAMS) < 1400e-6
    assert highest_price(ProviderRequest("openai/gpt-4o-mini", (), max_tokens=1_000_000), PARAMS) > 0.6
    with pytest.raises(UserError, match=r"providers.prices: nobody knows the price of openai/mine, so no budget"):
        highest_price(ProviderRequest("openai/mine", ()), PARAMS)


def test_wrong_arguments_of_a_tool_call_are_the_models_fault_and_pass_as_they_are(provider):
    provider.script = [WRONG_ARGUMENTS]
    reply = complete(ProviderRequest(MODEL, REQUEST.messages, (TOOL,)), PARAMS)
    assert [(call.id, call.name, call.arguments) for call in reply.calls] == [("call_1", "run_sql", '{"query": 7')]
    assert provider.calls[0]["tools"] == [TOOL] and reply.text == ""


def test_half_a_character_is_replaced_since_no_file_can_hold_it(provider, monkeypatch):
    monkeypatch.setattr("faulty_provider.CALL_ID", "a \ud83d b")
    assert complete(ProviderRequest(MODEL, REQUEST.messages, (TOOL,)), PARAMS).calls[0].id == "a ? b"


def test_the_key_is_struck_out_wherever_the_provider_puts_it(provider, monkeypatch, recwarn):
    client._litellm.cache_clear()  # to set its filter of warnings again, which pytest has undone
    monkeypatch.setattr("faulty_provider.CALL_ID", KEY)
    reply = complete(ProviderRequest(MODEL, REQUEST.messages, ({**TOOL, "function": {"name": KEY}},)), PARAMS)
    assert (reply.calls[0].id, reply.calls[0].name) == ("<OPENAI_API_KEY>",) * 2
    monkeypatch.setattr("faulty_provider.OTHER_NAME", KEY)
    provider.script = [OTHER_MODEL]
    with pytest.raises(Failed, match="<OPENAI_API_KEY> answered for openai/tiny"):
        complete(REQUEST, PARAMS)
    monkeypatch.setattr("faulty_provider.USAGE", {"prompt_tokens": KEY, "completion_tokens": 1, "total_tokens": 1})
    with pytest.raises(Failed):
        complete(REQUEST, PARAMS)
    assert not any(KEY in str(warning.message) for warning in recwarn)


@pytest.mark.parametrize(
    ("fault", "kind", "again", "wait", "paid"),
    [
        (BUSY, "RateLimitError", True, 0, 0),
        (BUSY_FOR_2_SECONDS, "RateLimitError", True, 2, 0),
        (BROKEN, "InternalServerError", True, 0, 0),
        (SLOW, "Timeout", True, 0, None),
        (CUT, "InternalServerError", True, 0, None),
        (NO_JSON, "InternalServerError", True, 0, None),
        (NO_CHOICE, "NoChoice", True, 0, 0.002),
        (NO_CONTENT, "NoContent", True, 0, 0.002),
        (OTHER_MODEL, "OtherModel", True, 0, 0.002),
        (BAD_REQUEST, "BadRequestError", False, 0, 0),
    ],
)
def test_faults_of_a_provider(provider, fault, kind, again, wait, paid):
    provider.script = [fault]
    with pytest.raises(Failed) as caught:
        complete(REQUEST, PARAMS)
    failure = caught.value
    assert (failure.kind, failure.again, failure.wait, failure.paid) == (kind, again, wait, pytest.approx(paid))
    assert len(provider.calls) == 1, "litellm must not try again by itself: tries are counted and paid for here"
    assert KEY not in failure.detail


def test_refused_key_names_the_variable_and_not_its_value(provider):
    provider.script = [BAD_KEY]
    with pytest.raises(UserError, match="environment variable OPENAI_API_KEY") as caught:
        complete(REQUEST, PARAMS)
    assert KEY not in str(caught.value) and caught.value.__cause__ is None


def test_missing_key_and_unknown_provider_are_the_users_fault(monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(UserError, match="set the environment variable ANTHROPIC_API_KEY"):
        complete(ProviderRequest("anthropic/claude-haiku-4-5", REQUEST.messages), PARAMS)
    for ask in (complete, highest_price):
        with pytest.raises(UserError, match=r"params.yaml: model `nonsense`: no provider"):
            ask(ProviderRequest("nonsense", REQUEST.messages), PARAMS)


@pytest.mark.parametrize(
    ("asked", "answered", "same"),
    [
        ("gpt-4o-mini", "gpt-4o-mini-2024-07-18", True),
        ("mistral-large-latest", "mistral-large-2411", True),
        ("some-lab/model-8b:free", "some-lab/model-8b", True),
        ("gpt-4o", "gpt-4o-mini", False),
        ("gpt-4", "gpt-5", False),
        ("model-8b", "model-70b", False),
    ],
)
def test_a_model_may_answer_under_its_version(provider, monkeypatch, asked, answered, same):
    monkeypatch.setattr("faulty_provider.OTHER_NAME", answered)
    provider.script = [OTHER_MODEL]
    request = ProviderRequest(f"openai/{asked}", REQUEST.messages)
    params = replace(PARAMS, prices={request.model: (1.0, 1.0)})
    if same:
        assert complete(request, params).model == answered
    else:
        with pytest.raises(Failed, match="OtherModel"):
            complete(request, params)


def test_redaction_spares_what_is_no_secret(monkeypatch):
    variables = {
        "MY_API_KEY": "longenough", "MY_API_KEY_2": "longenough-and-more", "X_APIKEY": "with-a-line-end\n",
        "HF_TOKEN": "another-one", "X_KEY": "short", "HOMELAND": "visible-one",
    }  # fmt: skip
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    text = redact("longenough, longenough-and-more, with-a-line-end, another-one, short, visible-one")
    assert text == "<MY_API_KEY>, <MY_API_KEY_2>, <X_APIKEY>, <HF_TOKEN>, short, visible-one"


def test_nothing_is_logged(provider, capfd, caplog):
    provider.script = [BROKEN, ANSWER]
    with pytest.raises(Failed):
        complete(REQUEST, PARAMS)
    complete(REQUEST, PARAMS)
    assert capfd.readouterr() == ("", "") and KEY not in caplog.text
