"""What a server is told of an error at a client: its kind; the rest stays in the client's log."""

import logging
from collections.abc import Callable

from flwr.app import Context, Message

Answer = Callable[[Message, Context], Message]

_LOG = logging.getLogger(__name__)


class ClientFailure(RuntimeError):
    """What a server is told of an error at a client: what failed, and the kind of error."""


def without_error_details(task: str, answer: Answer) -> Answer:
    """`answer`, but an error in it is raised as ``task failed (its class)`` and nothing more.

    Flower sends the text of an error to the server, and that text may quote data, paths or
    settings of the client. The whole error is logged at the client.
    """

    def answered(message: Message, context: Context) -> Message:
        try:
            return answer(message, context)
        except Exception as error:
            _LOG.exception("%s failed", task)
            failure = ClientFailure(f"{task} failed ({type(error).__name__[:60]})")
        # Raised out here, where it does not carry the error along as its context.
        raise failure

    return answered
