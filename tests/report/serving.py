"""A server of the page in a thread of its own."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from wola.bench.store import Store
from wola.report.serve import PageServer


@contextmanager
def serving(store: Store, *, fresh: float) -> Iterator[PageServer]:
    """Inside, the page of a store is served; a look at it counts as new for `fresh` seconds."""
    with PageServer([store], port=0) as made:
        made.watched.fresh = fresh
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield made
        made.shutdown()
        thread.join()
