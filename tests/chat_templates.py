"""Chat templates written for the tests, each in the manner of a family of models with a tool format of its own."""


def template(system_hint: str, call: str) -> str:
    """A template of ChatML turns: the tools with a hint, then the messages; `call` writes `entry.function`."""
    return (
        "{% if tools %}{{ '<|im_start|>tools\n' }}{% for tool in tools %}{{ tool | tojson }}{{ '\n' }}{% endfor %}"
        "{{ '" + system_hint + "<|im_end|>\n' }}{% endif %}"
        "{% for message in messages %}"
        "{% if message.tool_calls %}{{ '<|im_start|>assistant\n' + message.content }}"
        "{% for entry in message.tool_calls %}" + call + "{% endfor %}{{ '<|im_end|>\n' }}"
        "{% elif message.role == 'tool' %}{{ '<|im_start|>user\n<tool_response>\n' + message.content }}"
        "{{ '\n</tool_response><|im_end|>\n' }}"
        "{% else %}{{ '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}{% endif %}"
        "{% endfor %}"
        "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}"
        # thinking switched off shows as an empty thought, as Qwen 3 has it
        "{% if enable_thinking is defined and not enable_thinking %}{{ '<think>\n\n</think>\n\n' }}{% endif %}"
        "{% endif %}"
    )


# Qwen 2.5 and 3, Hermes: JSON between tags, with an example of a call in the system prompt.
HERMES = template(
    'Answer with <tool_call>\n{"name": ..., "arguments": ...}\n</tool_call>',
    "{% set tool_call = entry.function %}"
    """{{ '<tool_call>\n{"name": "' + tool_call.name + '", "arguments": ' }}{{ tool_call.arguments | tojson }}"""
    "{{ '}\n</tool_call>' }}",
)

# MiniCPM5: XML without an outer wrapper; a value with markup or newlines stands in a CDATA block.
MINICPM5 = template(
    "",
    """{{ '<function name="' + entry.function.name + '">' }}"""
    "{% for key, value in entry.function.arguments.items() %}"
    """{{ '<param name="' + key + '">' }}"""
    "{% if '<' in value or '&' in value or '\n' in value %}{{ '<![CDATA[' + value + ']]>' }}"
    "{% else %}{{ value }}{% endif %}{{ '</param>' }}"
    "{% endfor %}{{ '</function>' }}",
)

# Qwen 3 Coder and 3.5: parameters between tags, each on lines of its own.
QWEN3_CODER = template(
    "",
    "{{ '<tool_call>\n<function=' + entry.function.name + '>\n' }}"
    "{% for key, value in entry.function.arguments.items() %}"
    "{{ '<parameter=' + key + '>\n' + value + '\n</parameter>\n' }}"
    "{% endfor %}{{ '</function>\n</tool_call>' }}",
)

NATIVE = {"hermes": HERMES, "minicpm5": MINICPM5, "qwen3_coder": QWEN3_CODER}

# Each names the markers of a native format, but a call cannot be shown in it.
SHOWS_NO_CALL = HERMES.replace("if message.tool_calls", "if message.tool_call_name")
REFUSES_CALLS = HERMES.replace("{% for entry", "{{ raise_exception('no tools') }}{% for entry")

# Chat templates without what an agent needs.
REFUSES_SYSTEM = (
    "{% for message in messages %}{% if message.role == 'system' %}{{ raise_exception('no system role') }}{% endif %}"
    "{{ message.role + ': ' + message.content + '\n' }}{% endfor %}"
)
SHOWS_NO_RESULT = "{% for message in messages[:3] %}{{ message.role + ': ' + message.content + '\n' }}{% endfor %}"
