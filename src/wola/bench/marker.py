"""The marker of a store: the file that makes a folder one, and says how it is laid out."""

from errno import ENOENT
from pathlib import Path

from wola.ground.files import WriteError, write_whole
from wola.ground.sealed import Damaged, sealed, unsealed

#: The version of the layout of a store, which its marker names.
LAYOUT = 3

MARKER = "store.json"


class StoreError(ValueError):
    """A store that cannot be used, and why."""


def open_marker(root: Path, *, create: bool) -> None:
    """Makes sure that a folder is a store of this layout; makes it one if `create` says so."""
    marker = root / MARKER
    if not marker.is_file():
        _check_place(root, create)
        write_whole(marker, sealed({"store": LAYOUT}))
    try:
        layout = unsealed(marker.read_bytes()).get("store")
    except Damaged as error:
        raise StoreError(
            f"{marker} is damaged, or another version of wola wrote it: {error}; allowed: another "
            "folder"
        ) from None
    if layout != LAYOUT:
        raise StoreError(
            f"{root} was laid out by another version of wola, and is left as it is; allowed: "
            "another folder"
        )


def is_there(root: Path) -> bool:
    """Whether a folder is a store.

    >>> is_there(Path("no such folder"))
    False
    """
    return (root / MARKER).is_file()


def check_there(root: Path) -> None:
    """Raises a `WriteError` if a store has vanished, so that no part of it is made anew."""
    if not is_there(root):
        raise WriteError(ENOENT, f"the store has vanished: it has no {MARKER} any more", str(root))


def _check_place(root: Path, create: bool) -> None:
    if root.exists() and not root.is_dir():
        raise StoreError(f"{root} is a file; allowed: a folder")
    if not create:
        raise StoreError(f"{root} is no store; allowed: a folder with a {MARKER}")
    others = root.is_dir() and any(not path.name.startswith(".") for path in root.iterdir())
    # Whoever makes the store at this moment writes the marker before all else.
    if others and not is_there(root):
        raise StoreError(f"{root} holds other files; allowed: a store, or an empty folder")
