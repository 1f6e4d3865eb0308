"""Contents from outside: how large they are, and how a client's text may be shown."""

from flwr.app import Array, RecordDict

#: Longest text of a client that is kept.
LONGEST_TEXT = 200


def size_of(content: RecordDict) -> int:
    """How many bytes the records of a message hold: names, arrays, texts, 8 for a number.

    >>> from flwr.app import ConfigRecord
    >>> size_of(RecordDict({"a": ConfigRecord({"bc": "def", "g": [1, 2]})}))
    23
    """
    total = 0
    for name, record in content.items():
        total += len(name)
        for key, value in record.items():
            total += len(key)
            if isinstance(value, Array):
                total += len(value.data) + len(value.dtype) + 8 * len(value.shape)
            else:
                items = value if isinstance(value, list) else [value]
                total += sum(len(i) if isinstance(i, str | bytes) else 8 for i in items)
    return total


def printable(text: str) -> str:
    """A client's text as it may stand in a log: one line, printable, at most 200 characters.

    >>> printable("a" + chr(27) + "[2J" + chr(10) + "b")
    'a?[2J?b'
    """
    cut = text[:LONGEST_TEXT]
    return "".join(letter if letter.isprintable() else "?" for letter in cut)
