"""What tests run in processes of their own."""

import sys
import time

from wola.training import Callback, Checkpoint, RunFolder, Scenario, simulate


class Slow(Callback):
    """Takes its time after every round, so that a run can be caught in the middle."""

    def on_step(self, record):
        """Waits."""
        time.sleep(0.02)


def digest(scenario):
    """The bits of a run."""
    return simulate(scenario).digest()


def run_slowly(path, text):
    """A run with a checkpoint after every fifth step."""
    simulate(Scenario.from_json(text), callbacks=[Slow()], checkpoint=Checkpoint(path, every=5))


def run_with_little_disk(path, text, limit):
    """A run that may not write a file larger than `limit` bytes."""
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
    RunFolder(path).train(Scenario.from_json(text), every=5)


if __name__ == "__main__":
    {"slow": run_slowly, "little-disk": run_with_little_disk}[sys.argv[1]](*sys.argv[2:])
