"""What may stand inside another rule."""

from wola.aggregation.rule import Rule


def check_inner_rule(rule: object) -> None:
    """Refuse what cannot stand inside another rule, which hands it the updates alone."""
    if not isinstance(rule, Rule):
        kind = type(rule).__name__
        raise TypeError(f"rule = {rule!r} is a {kind}; allowed: a Rule, such as Krum()")
    if rule.needs or rule.remembers != "nothing":
        what = "needs what the server knows" if rule.needs else "keeps a memory"
        raise TypeError(
            f"rule = {rule!r} {what}; allowed: a rule that needs no server data and keeps no memory"
        )
