"""What a rule needs beside the updates, checked before any node is asked."""

from wola.aggregation import Rule
from wola.aggregation.view import FROM_REFERENCE
from wola.labels import Objective
from wola.training import ServerData
from wola.training.server_reference import ROWS


def keeps_state(rule: Rule) -> bool:
    """Whether rounds depend on what the rule, or the server's own rows, were in those before.

    >>> from wola.aggregation import FLTrust, Mean
    >>> keeps_state(FLTrust()), keeps_state(Mean())
    (True, False)
    """
    return rule.remembers != "nothing" or not rule.needs.isdisjoint(ROWS)


def least_updates(rule: Rule, *, classes: int, n: int, f: int) -> int:
    """The smallest number of updates, up to n, that a rule accepts with f Byzantine ones.

    Some need more of them the more classes there are.

    >>> from wola.aggregation import BOBA, TrimmedMean
    >>> least_updates(TrimmedMean(), classes=10, n=17, f=2)
    5
    >>> least_updates(BOBA(), classes=10, n=17, f=2)
    12
    """
    return next(m for m in range(1, n + 1) if _accepts(rule, m, f, classes))


def _accepts(rule: Rule, n: int, f: int, classes: int) -> bool:
    try:
        rule.check(n, f)
        rule.check_classes(n, f, classes)
    except ValueError:
        return False
    return True


def check_needs(
    rule: Rule,
    reference: ServerData | None,
    objective: Objective,
    *,
    classes: int,
    n: int,
    f: int,
) -> None:
    """Refuse a rule whose needs are not met, with an error that says what to give.

    >>> from wola.aggregation import FLTrust
    >>> from wola.labels import Uniform
    >>> check_needs(FLTrust(), None, Uniform(), classes=3, n=5, f=1)
    Traceback (most recent call last):
    ...
    ValueError: rule = FLTrust() needs data of the server's own; allowed: \
reference=ServerData(inputs, labels, classes=3), from wola.training
    """
    if reference is not None:
        _check_reference(reference, classes)
    if rule.needs & FROM_REFERENCE and reference is None:
        raise ValueError(
            f"rule = {rule} needs data of the server's own; allowed: "
            f"reference=ServerData(inputs, labels, classes={classes}), from wola.training"
        )
    if "classes" in rule.needs and reference is not None:
        try:
            reference.check_every_class()
        except ValueError as error:
            raise ValueError(f"rule = {rule}: {error}") from error
    rule.check_classes(n, f, classes)
    if "labels" in rule.needs and not objective.needs_reports:
        raise ValueError(
            f"rule = {rule} needs the label distributions that clients report, and objective = "
            f"{objective} asks nobody; allowed: an objective that asks, such as 'shared'"
        )


def _check_reference(reference: ServerData, classes: int) -> None:
    if not isinstance(reference, ServerData):
        raise TypeError(
            f"reference is a {type(reference).__name__}; allowed: a ServerData, or None"
        )
    if reference.classes != classes:
        raise ValueError(f"reference has {reference.classes} classes; allowed: {classes}, as here")
