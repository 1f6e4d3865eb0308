"""Errors at a client: all of them in its own log, of each only the kind in what travels."""

import logging
from collections.abc import Callable

from flwr.app import Context, Message

Answer = Callable[[Message, Context], Message]

_LOG = logging.getLogger(__name__)


class ClientFailure(RuntimeError):
    """What a server learns of an error at a client: what failed, and the kind of error."""


def scrubbed(doing: str, answer: Answer) -> Answer:
    """The same answer to a message, but an error leaves only ``doing failed (its class)``.

    Flower sends the text of an error to the server, and that text may quote data, paths or
    settings of the client. The whole error is logged here.
    """

    def answered(message: Message, context: Context) -> Message:
        try:
            return answer(message, context)
        except Exception as error:
            _LOG.exception("%s failed", doing)
            failure = ClientFailure(f"{doing} failed ({type(error).__name__[:60]})")
        # Raised out here, where it does not carry the error along as its context.
        raise failure

    return answered
