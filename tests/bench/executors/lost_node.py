"""What a test runs in a process of its own: a grid on a Ray cluster that loses a node."""

import json
import os
import signal
import sys
from contextlib import suppress
from threading import Thread
from time import sleep

from wola.bench.events import Done
from wola.bench.executors.ray import RayExecutor
from wola.bench.run import run_grid
from wola.bench.store import Store
from wola.training import Scenario


def two_nodes():
    """A cluster of this machine with a node for the driver and one that can be lost."""
    from ray.cluster_utils import Cluster

    quiet = {"include_dashboard": False, "object_store_memory": 80 * 2**20}
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, **quiet})
    node = cluster.add_node(num_cpus=1, object_store_memory=80 * 2**20)
    cluster.wait_for_nodes()
    return cluster, node


def lose_a_node(path, scenarios):
    """A grid during which one of two nodes is killed, then all scenarios on the node that is left.

    The grid has all scenarios but the last two. At last a Ctrl-C in the middle of a run.
    """
    cluster, node = two_nodes()
    store, lost = Store.open(path), []

    def listen(event):
        if isinstance(event, Done) and not lost:
            lost.append(event.key)
            cluster.remove_node(node, allow_graceful=False)

    executor = RayExecutor(cluster.address)
    first = run_grid(scenarios[:-2], store, executor=executor, listener=listen)
    second = run_grid(scenarios, store, executor=executor)
    claims = claims_after_an_interruption(store, executor)
    cluster.shutdown()
    return {
        "lost": len(lost),
        "first": [len(first.done) + len(first.skipped), len(first.failed)],
        "second": [len(second.done), len(second.skipped), len(second.failed)],
        "log": second.failed[0].log if second.failed else "",
        "claims": claims,
    }


def claims_after_an_interruption(store, executor):
    """How many claims there are while a run of many steps is under way, and after a Ctrl-C."""
    folder, while_running = store.path / "claims", []

    def interrupt():
        while not store.running():
            sleep(0.05)
        while_running.extend(folder.iterdir())
        os.kill(os.getpid(), signal.SIGINT)

    Thread(target=interrupt).start()
    with suppress(KeyboardInterrupt):
        run_grid([Scenario.paper("iris", steps=1_000_000)], store, executor=executor)
    return [len(while_running), len(list(folder.iterdir()))]


if __name__ == "__main__":
    # A shell that starts tests in the background lets them ignore Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    wanted = [Scenario.from_json(line) for line in sys.stdin]
    print(json.dumps(lose_a_node(sys.argv[1], wanted)))
