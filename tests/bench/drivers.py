"""What tests run in processes of their own: a Ray cluster that loses a node."""

import json
import sys

from wola.bench.events import Done
from wola.bench.ray_cluster import RayExecutor
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
    """A grid during which one of two nodes is killed, then a shared store with what is left."""
    cluster, node = two_nodes()
    store, lost = Store.open(path), []

    def listen(event):
        if isinstance(event, Done) and not lost:
            lost.append(event.key)
            cluster.remove_node(node, allow_graceful=False)

    executor = RayExecutor(cluster.address)
    first = run_grid(scenarios[:-2], store, executor=executor, listener=listen)
    shared = RayExecutor(cluster.address, shared=True)
    second = run_grid(scenarios, store, executor=shared)
    cluster.shutdown()
    return {
        "lost": len(lost),
        "first": [len(first.done), len(first.skipped), len(first.failed)],
        "second": [len(second.done), len(second.skipped), len(second.failed)],
        "log": second.failed[0].log if second.failed else "",
    }


if __name__ == "__main__":
    wanted = [Scenario.from_json(line) for line in sys.stdin]
    print(json.dumps(lose_a_node(sys.argv[1], wanted)))
