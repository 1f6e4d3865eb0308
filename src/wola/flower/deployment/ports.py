"""Ports of this machine: free ones to listen on, and whether a program listens."""

import socket
from contextlib import ExitStack

LOOPBACK = "127.0.0.1"


def free_ports(count: int) -> list[int]:
    """Ports of the loopback interface that no program listens on, all different.

    >>> len(set(free_ports(3)))
    3
    """
    with ExitStack() as stack:
        held = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in held:
            each.bind((LOOPBACK, 0))
        return [each.getsockname()[1] for each in held]


def listening(port: int) -> bool:
    """Whether a program accepts connections on this port of the loopback interface.

    >>> listening(free_ports(1)[0])
    False
    """
    try:
        with socket.create_connection((LOOPBACK, port), timeout=1.0):
            return True
    except OSError:
        return False
