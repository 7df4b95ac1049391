"""Lines that somebody types, with the keys that people of the terminal expect, or that come through a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress


def typed_in() -> bool:
    """Whether standard input is a terminal."""
    return sys.stdin.isatty()


def lines(prompt: str) -> Iterator[str]:
    """The lines of standard input that are not blank, without the blanks around them, until it ends (Ctrl-D).

    A terminal shows the prompt, has line editing and a history where Python has readline, and Ctrl-C drops the line.
    """
    terminal = typed_in()
    sys.stdin.reconfigure(errors="surrogateescape")  # so that bytes of another encoding are one bad question, no crash
    while True:
        try:
            line = _read(prompt, terminal)
        except EOFError:
            break
        except KeyboardInterrupt:
            if not terminal:
                raise
            print(file=sys.stderr)
            continue
        if line.strip():
            yield line.strip()
    if terminal:
        print(file=sys.stderr)  # the shell's own prompt begins on a new line


def _read(prompt: str, terminal: bool) -> str:
    """The next line; EOFError where there is none."""
    if terminal and sys.stdout.isatty():
        with suppress(ImportError):  # not every build has it
            import readline  # noqa: F401  (that it is there is enough: `input` then edits, and remembers)
        return input(prompt)
    if terminal:  # the output goes to a file, where the prompt does not belong
        print(prompt, end="", file=sys.stderr, flush=True)
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line
