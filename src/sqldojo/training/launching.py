"""Running one script as several ranks, processes on this machine or on more, that start and end together.

`mlx.launch` can start them too, but it returns 0 when a rank fails and puts a pipe between rank 0 and the terminal.
Here each rank's standard input is a life line that only the launching process holds: at its end the rank exits, so even
a killed launcher leaves nobody behind that would go on writing checkpoints.
"""

from __future__ import annotations

import ipaddress
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO

from sqldojo.errors import UserError
from sqldojo.stage import RANK

RING = "SQLDOJO_RING"  # set in a rank that was launched here: everybody's addresses, as in mlx's hostfile
LOST_RANK = 75  # the exit code of a rank that ends only because another one did

_THREADS = ("MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
_SENT_BY_SSH = ("PYTHONPATH", "DVC_ROOT", *_THREADS)
_SSH = ("ssh", "-o", "BatchMode=yes", "-o", "ServerAliveInterval=15")
_SECONDS_TO_NOTICE = 3.0  # for ranks that wait for one that failed: they end by themselves
_SECONDS_TO_STOP = 10.0  # for rank 0 after Ctrl-C: Python acts on it when the running evaluation returns
_SECONDS_TO_EXIT = 3.0  # after the life line is cut

Process = subprocess.Popen[bytes]


def relaunch_on(hosts: Sequence[str], command: Sequence[str], *, folder: Path) -> int | None:
    """Run the Python script and arguments `command` in `folder` as one rank a host; returns their common exit code.

    None, with nothing done, for fewer than two hosts or in a process that is a rank itself: the caller does the work.
    Rank 0 runs on this machine and has its terminal. A host that equals the first is this machine too; on any other the
    rank is started by ssh, in a folder and with an interpreter of the same paths. Of the other ranks nothing is shown
    but the last errors of one that failed. The first failure ends all; the code is that of the lowest rank that failed
    by itself, 128 + n for signal n, and 130 after Ctrl-C. UserError for hosts that cannot form a ring.
    """
    if len(hosts) < 2 or RANK in os.environ:
        return None
    ring = json.dumps([[f"{address}:{port}"] for address, port in zip(_addresses(hosts), _ports(hosts), strict=True)])
    with ExitStack() as files:
        errors = [None, *(files.enter_context(tempfile.TemporaryFile()) for _ in hosts[1:])]
        ranks: list[Process] = []
        try:
            for rank, host in enumerate(hosts):
                own = {RANK: str(rank), RING: ring, **_threads(hosts.count(host))}
                ranks.append(_start(host if host != hosts[0] else None, own, command, folder, errors[rank]))
            while any(process.poll() is None for process in ranks) and not any(process.poll() for process in ranks):
                time.sleep(0.05)
            _wait(ranks, _SECONDS_TO_NOTICE)
            return _common_code([process.poll() for process in ranks], errors)
        except KeyboardInterrupt:
            _cut_life_lines(ranks[1:])
            for process in ranks[:1]:
                process.send_signal(signal.SIGINT)
            _wait(ranks, _SECONDS_TO_STOP)
            return 128 + signal.SIGINT
        finally:
            _cut_life_lines(ranks)
            _wait(ranks, _SECONDS_TO_EXIT)
            for process in ranks:
                process.kill()  # without effect on one that has exited
                process.wait()


def left_to_ranks(hosts: Sequence[str], folder: Path) -> bool:
    """Run this very script as one rank a host, in `folder`; False where `relaunch_on` leaves the work to the caller.

    Ends the process with the ranks' exit code when they failed.
    """
    code = relaunch_on(hosts, sys.argv, folder=folder)
    if code:
        sys.exit(code)
    return code is not None


def _addresses(hosts: Sequence[str]) -> list[str]:
    """The IPv4 address of each host, where all others must reach it."""
    addresses = []
    for host in hosts:
        try:
            addresses.append(str(socket.getaddrinfo(host, None, socket.AF_INET)[0][4][0]))
        except OSError as error:
            message = f"params.yaml: grpo.hosts: {host}: {error.strerror}; correct the name or write the IPv4 address"
            raise UserError(message) from error
        if len(set(hosts)) > 1 and ipaddress.ip_address(addresses[-1]).is_loopback:
            raise UserError(
                f"params.yaml: grpo.hosts: {host} is {addresses[-1]}, which other machines cannot reach; "
                "write the address that it has in their network"
            )
    return addresses


def _ports(hosts: Sequence[str]) -> list[int]:
    """A port for each rank; free on this machine, and so most likely on the others."""
    with ExitStack() as closing:
        sockets = [closing.enter_context(socket.socket()) for _ in hosts]
        for each in sockets:
            each.bind(("", 0))
        return [each.getsockname()[1] for each in sockets]


def _threads(ranks_there: int) -> dict[str, str]:
    """This machine's cores divided among the ranks of one host, where each one's BLAS would take them all."""
    if ranks_there == 1:
        return {}
    share = str(max(1, (os.cpu_count() or 1) // ranks_there))
    return {name: os.environ.get(name, share) for name in _THREADS}


def _start(
    remote: str | None, own: dict[str, str], command: Sequence[str], folder: Path, errors: IO[bytes] | None
) -> Process:
    """Start one rank with its `own` variables; it is silent when its errors go to a file."""
    program = [sys.executable, *command]
    if remote is not None:
        sent = {name: os.environ[name] for name in _SENT_BY_SSH if name in os.environ} | own
        there = shlex.join(["env", *(f"{name}={value}" for name, value in sent.items()), *program])
        program = [*_SSH, remote, f"cd {shlex.quote(str(folder))} && exec {there}"]
    return subprocess.Popen(
        program,
        cwd=folder,
        env={**os.environ, **own},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL if errors else None,
        stderr=errors,
        process_group=0,  # Ctrl-C at the terminal reaches the launcher alone, which passes it on once
    )


def _wait(ranks: Sequence[Process], seconds: float) -> None:
    """Until all have ended, for so many seconds at most."""
    deadline = time.monotonic() + seconds
    for process in ranks:
        with suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, deadline - time.monotonic()))


def _cut_life_lines(ranks: Sequence[Process]) -> None:
    for process in ranks:
        assert process.stdin is not None
        process.stdin.close()


def _common_code(codes: Sequence[int | None], errors: Sequence[IO[bytes] | None]) -> int:
    """0 when all ended well, else the code of the lowest rank that failed by itself, whose errors are shown."""
    failed = [rank for rank, code in enumerate(codes) if code not in (None, 0, LOST_RANK)]
    if not failed:
        return max(code or 0 for code in codes)
    code, log = codes[failed[0]], errors[failed[0]]
    assert code is not None
    if log is not None:
        log.seek(0)
        for line in log.read().decode(errors="replace").splitlines()[-50:]:
            print(f"rank {failed[0]}: {line}", file=sys.stderr)
    if code < 0:
        print(f"rank {failed[0]}: ended by signal {-code}", file=sys.stderr)
    return code if code > 0 else 128 - code
