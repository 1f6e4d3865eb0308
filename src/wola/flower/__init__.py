"""Flower: WoLA and robust rules in a real federation, over clients that may fail or lie."""

from wola.ground.extras import missing

try:
    from wola.flower.client import wola_client
    from wola.flower.ledger import RoundRecord
    from wola.flower.loopback import LoopbackGrid
    from wola.flower.misbehaviour import MISBEHAVIOURS
    from wola.flower.recipe import Recipe
    from wola.flower.settings import StrategySettings
    from wola.flower.signing import (
        KeyFileError,
        generate_keypair,
        load_private_key,
        load_public_keys,
    )
    from wola.flower.strategy import WolaStrategy
except ModuleNotFoundError as error:
    raise missing(str(error.name), extra="flower", what="wola.flower") from error

__all__ = [
    "MISBEHAVIOURS",
    "KeyFileError",
    "LoopbackGrid",
    "Recipe",
    "RoundRecord",
    "StrategySettings",
    "WolaStrategy",
    "generate_keypair",
    "load_private_key",
    "load_public_keys",
    "wola_client",
]
