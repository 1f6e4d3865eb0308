"""The battery that every rule, mixing and attack goes through, for your own as well."""

from wola.testing._attacks import check_attack
from wola.testing._mixings import check_mixing
from wola.testing._rules import check_rule

__all__ = ["check_attack", "check_mixing", "check_rule"]
