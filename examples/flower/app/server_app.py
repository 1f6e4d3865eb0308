"""The server: WoLA with a robust rule, or Flower's FedAvg to compare it with."""

from pathlib import Path

import digits
import fedavg
from flwr.app import ArrayRecord, Context, MetricRecord
from flwr.serverapp import Grid, ServerApp

from wola.flower import Recipe, WolaStrategy

app = ServerApp()


@app.main()
def main(grid: Grid, context: Context) -> None:
    """Trains for as many rounds as the run's configuration says."""
    config = context.run_config
    folder = str(config["allowed-keys"])

    def evaluate(round: int, arrays: ArrayRecord) -> MetricRecord:
        accuracy, loss = digits.score(arrays.to_torch_state_dict(), round, context)
        return MetricRecord({"accuracy": accuracy, "loss": loss})

    if config["strategy"] == "fedavg":
        fedavg.serve(grid, context, evaluate)
        return
    strategy = WolaStrategy(
        digits.model(int(config["seed"])),
        classes=digits.CLASSES,
        n=int(config["clients"]),
        f=int(config["byzantine"]),
        rule=str(config["rule"]),
        reference=digits.server_data(context),
        recipe=Recipe(
            lr=float(config["lr"]),
            schedule="constant",
            beta=float(config["beta"]),
            batch=int(config["batch"]),
            local_steps=int(config["local-steps"]),
            seed=int(config["seed"]),
        ),
        deadline=float(config["deadline"]),
        quorum=int(config["quorum"]) or None,
        federation=str(config["federation"]),
        keys=sorted(Path(folder).glob("*.pub")) if folder else None,
        checkpoint=str(config["checkpoint"]) or None,
        records=str(config["records"]) or None,
    )
    strategy.start(grid, num_rounds=int(config["num-rounds"]), evaluate_fn=evaluate)
