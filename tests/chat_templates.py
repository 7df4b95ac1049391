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

# Qwen 3.5: that, with what is said trimmed, and an empty thought before each of the model's turns of this question.
QWEN3_5 = QWEN3_CODER.replace("+ message.content }}{% for entry", "+ '<think>\n\n</think>\n\n' }}{% for entry").replace(
    "<tool_response>\n' + message.content }}", "<tool_response>\n' + (message.content | trim) }}"
)

# Llama 3: one call as JSON, with nothing behind it but the end of the turn; the tools in the user's first turn, results
# as JSON, the date in the system prompt.
LLAMA3 = (
    "{{ '<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\n' }}"
    "{% if tools %}{{ 'Environment: ipython\n' }}{% endif %}{{ 'Today Date: ' + strftime_now('%d %b %Y') + '\n\n' }}"
    "{% if messages[0].role == 'system' %}{{ messages[0].content | trim }}{% set messages = messages[1:] %}{% endif %}"
    "{{ '<|eot_id|>' }}"
    "{% if tools %}{{ '<|start_header_id|>user<|end_header_id|>\n\nCall one with JSON of name and parameters:\n\n' }}"
    "{% for tool in tools %}{{ tool | tojson(indent=4) }}{{ '\n\n' }}{% endfor %}"
    "{{ (messages[0].content | trim) + '<|eot_id|>' }}{% set messages = messages[1:] %}{% endif %}"
    "{% for message in messages %}"
    "{% if message.tool_calls %}"
    "{% if message.tool_calls | length != 1 %}{{ raise_exception('one call at a time') }}{% endif %}"
    "{% set called = message.tool_calls[0].function %}"
    """{{ '<|start_header_id|>assistant<|end_header_id|>\n\n{"name": "' + called.name + '", "parameters": ' }}"""
    "{{ called.arguments | tojson }}{{ '}<|eot_id|>' }}"
    "{% elif message.role == 'tool' %}"
    "{{ '<|start_header_id|>ipython<|end_header_id|>\n\n' }}{{ message.content | tojson }}{{ '<|eot_id|>' }}"
    "{% else %}"
    "{{ '<|start_header_id|>' + message.role + '<|end_header_id|>\n\n' + (message.content | trim) + '<|eot_id|>' }}"
    "{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}"
)
# The same with the tag that Llama 3.1 puts before code and calls.
LLAMA3_TAGGED = LLAMA3.replace("""\n\n{"name": "'""", """\n\n<|python_tag|>{"name": "'""")

# LFM2: the tools in the system prompt; what the model says, calls too, is the text of its turn.
LFM2 = (
    "{{ '<|startoftext|>' }}{% set about = namespace(text='') %}"
    "{% if messages[0].role == 'system' %}{% set about.text = messages[0].content %}{% set messages = messages[1:] %}"
    "{% endif %}"
    "{% if tools %}{% set about.text = about.text + '\nTools: <|tool_list_start|>[' %}"
    "{% for tool in tools %}"
    "{% set about.text = about.text + (tool | tojson) + ('' if loop.last else ', ') %}{% endfor %}"
    "{% set about.text = about.text + ']<|tool_list_end|>' %}{% endif %}"
    "{% if about.text %}{{ '<|im_start|>system\n' + about.text + '<|im_end|>\n' }}{% endif %}"
    "{% for message in messages %}{% set said = message.content if message.content is string else '' %}"
    "{% if message.role == 'tool' %}"
    "{% set said = '<|tool_response_start|>' + said + '<|tool_response_end|>' %}{% endif %}"
    "{{ '<|im_start|>' + message.role + '\n' + said + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)

# Gemma 3: neither tools nor a system role of its own; users and models take turns.
GEMMA3 = (
    "{{ '<bos>' }}{% set about = '' %}"
    "{% if messages[0].role == 'system' %}"
    "{% set about = messages[0].content + '\n\n' %}{% set messages = messages[1:] %}{% endif %}"
    "{% for message in messages %}"
    "{% if (message.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('users and models take turns') }}"
    "{% endif %}"
    "{{ '<start_of_turn>' + ('model' if message.role == 'assistant' else message.role) + '\n' }}"
    "{{ (about if loop.first else '') + (message.content | trim) + '<end_of_turn>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<start_of_turn>model\n' }}{% endif %}"
)

# SmolLM3: the date and the mode in the system prompt; calls in the text of a turn, results in the user's.
SMOLLM3 = (
    "{{ '<|im_start|>system\nToday Date: ' + strftime_now(\"%d %B %Y\") + '\nReasoning Mode: ' }}"
    "{% set thinks = enable_thinking is not defined or enable_thinking %}{{ '/think\n' if thinks else '/no_think\n' }}"
    "{% if messages[0].role == 'system' %}{{ messages[0].content + '\n' }}{% set messages = messages[1:] %}{% endif %}"
    "{% if tools %}{{ '<tools>\n' }}{% for tool in tools %}{{ (tool | string) + '\n' }}{% endfor %}"
    """{{ '</tools>\nTo call one: <tool_call>\n{"name": <its name>, "arguments": <JSON>}\n</tool_call>\n' }}"""
    "{% endif %}"
    "{{ '<|im_end|>\n' }}"
    "{% for message in messages %}{% set said = message.content if message.content is string else '' %}"
    "{% if message.role == 'assistant' %}"
    "{{ '<|im_start|>assistant\n' }}{% if not thinks %}{{ '<think>\n\n</think>\n' }}{% endif %}"
    "{{ said.lstrip('\n') + '<|im_end|>\n' }}"
    "{% elif message.role == 'tool' %}{{ '<|im_start|>user\n' + said + '<|im_end|>\n' }}"
    "{% else %}{{ '<|im_start|>' + message.role + '\n' + said + '<|im_end|>\n' }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}"
    "{% if not thinks %}{{ '<think>\n\n</think>\n' }}{% endif %}{% endif %}"
)

NATIVE = {"hermes": HERMES, "minicpm5": MINICPM5, "qwen3_coder": QWEN3_CODER}

# Each names the markers of a native format; one shows a call only as what the model says, the other refuses it.
SHOWS_NO_CALL = HERMES.replace("if message.tool_calls", "if message.tool_call_name")
REFUSES_CALLS = HERMES.replace("{% for entry", "{{ raise_exception('no tools') }}{% for entry")

# Chat templates without what an agent needs.
REFUSES_SYSTEM = (
    "{% for message in messages %}{% if message.role == 'system' %}{{ raise_exception('no system role') }}{% endif %}"
    "{{ message.role + ': ' + message.content + '\n' }}{% endfor %}"
)
SHOWS_NO_RESULT = "{% for message in messages[:3] %}{{ message.role + ': ' + message.content + '\n' }}{% endfor %}"
