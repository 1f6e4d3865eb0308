"""What the nodes of a cluster need from the process that submits runs: its store, its modules."""

import os
import socket
import sys
from dataclasses import dataclass, replace
from typing import Self

from wola.bench.marker import StoreError
from wola.bench.store import Store


@dataclass(frozen=True)
class Submission:
    """The store, and where the submitting process looks for modules, for use on another machine.

    Both are paths that mean the same from any folder: nodes must reach the store under its path.
    Modules are a user's own rules, networks and the like, which are often in the current folder.
    """

    store: Store
    module_path: tuple[str, ...]

    @classmethod
    def of(cls, store: Store) -> Self:
        """What runs for this store need that are submitted from here.

        >>> from pathlib import Path
        >>> made = Submission.of(Store(Path("store")))
        >>> made.store.path.is_absolute(), "" in made.module_path
        (True, False)
        """
        entries = tuple(dict.fromkeys(os.path.abspath(entry) for entry in sys.path))
        return cls(replace(store, path=store.path.resolve()), entries)

    def arrive(self) -> Store:
        """On a node: makes the modules importable, and gives the store if it can be reached.

        Entries that are missing here come last, so that what is installed here goes first.
        """
        here = {os.path.abspath(entry) for entry in sys.path}
        sys.path.extend(entry for entry in self.module_path if entry not in here)
        if not (self.store.path / "store.json").is_file():
            raise StoreError(
                f"{self.store.path} is no store on the node {socket.gethostname()}; allowed: a "
                "folder that all nodes share under the same path"
            )
        return self.store
