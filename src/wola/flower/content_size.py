"""How many bytes the records of a message hold."""

from flwr.app import Array, RecordDict


def content_size(content: RecordDict) -> int:
    """How many bytes the records of a message hold: names, arrays, texts, 8 for a number.

    >>> from flwr.app import ConfigRecord
    >>> content_size(RecordDict({"a": ConfigRecord({"bc": "def", "g": [1, 2]})}))
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
