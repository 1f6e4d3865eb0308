"""Deployment: keys and certificates, Flower's programs on this machine, and a demonstration."""

from wola.flower.deployment.credentials import (
    ClientKeys,
    Credentials,
    admit,
    make_client_keys,
    make_credentials,
)
from wola.flower.deployment.demo import LIES, Plan, demonstrate
from wola.flower.deployment.example import example_app
from wola.flower.deployment.local_federation import LocalFederation
from wola.flower.deployment.processes import DeploymentError, Program, Programs
from wola.flower.deployment.proxy import Proxy, nginx

__all__ = [
    "LIES",
    "ClientKeys",
    "Credentials",
    "DeploymentError",
    "LocalFederation",
    "Plan",
    "Program",
    "Programs",
    "Proxy",
    "admit",
    "demonstrate",
    "example_app",
    "make_client_keys",
    "make_credentials",
    "nginx",
]
