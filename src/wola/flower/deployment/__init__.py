"""Deployment: keys and certificates, Flower's programs on this machine, and a demonstration."""

from wola.flower.deployment.credentials import (
    ClientKeys,
    Credentials,
    admit,
    make_client_keys,
    make_credentials,
)
from wola.flower.deployment.demo import LIES, FederationPlan, run_demo_federation
from wola.flower.deployment.example import example_app
from wola.flower.deployment.local_federation import LocalFederation
from wola.flower.deployment.processes import DeploymentError, Program, Programs
from wola.flower.deployment.proxy import Proxy, nginx

__all__ = [
    "LIES",
    "ClientKeys",
    "Credentials",
    "DeploymentError",
    "FederationPlan",
    "LocalFederation",
    "Program",
    "Programs",
    "Proxy",
    "admit",
    "example_app",
    "make_client_keys",
    "make_credentials",
    "nginx",
    "run_demo_federation",
]
