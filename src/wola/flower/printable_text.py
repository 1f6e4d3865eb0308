"""A client's text in the form in which a log may show it."""

#: Longest text of a client that is kept.
LONGEST_TEXT = 200


def printable_text(text: str) -> str:
    """The text in one line, printable, at most 200 characters long.

    >>> printable_text("a" + chr(27) + "[2J" + chr(10) + "b")
    'a?[2J?b'
    """
    cut = text[:LONGEST_TEXT]
    return "".join(letter if letter.isprintable() else "?" for letter in cut)
