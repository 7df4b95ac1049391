"""What the tests of calls to providers share: a provider on loopback, and a key for it in the environment."""

import pytest
from faulty_provider import KEY, faulty_provider


@pytest.fixture
def provider(monkeypatch):
    with faulty_provider() as running:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_API_BASE", running.url)
        yield running
