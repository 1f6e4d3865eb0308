"""Counts and prints what a check found."""

from time import monotonic


class Tally:
    """Counts and prints what held and what did not."""

    def __init__(self) -> None:
        self.begun = monotonic()
        self.passed = self.failed = 0

    def check(self, what: str, held: bool, detail: object = "") -> None:
        """Prints one check; a failed one with its detail."""
        self.passed, self.failed = self.passed + held, self.failed + (not held)
        self.say(f"{'ok  ' if held else 'FAIL'} {what}" + ("" if held else f": {detail}"))

    def say(self, text: str) -> None:
        """Prints a line with the seconds since the beginning."""
        print(f"{monotonic() - self.begun:5.0f} s  {text}", flush=True)

    def ending(self) -> str:
        """The last line."""
        return f"{self.passed} passed, {self.failed} failed"
