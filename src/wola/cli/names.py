"""How names of attacks are printed in tables and pictures."""

_ABBREVIATIONS = frozenset({"alie", "foe", "lf", "sf"})


def attack_title(name: str) -> str:
    """The name of an attack as the paper writes it.

    >>> attack_title("alie"), attack_title("mimic")
    ('ALIE', 'Mimic')
    """
    return name.upper() if name in _ABBREVIATIONS else name.capitalize()
