"""What the page of the measurements with Flower says around its tables."""

ROUNDS = """\
The whole federation in one process, `wola.flower.LoopbackGrid`: every message goes through
Flower's own serialisation, both ways, and the clients work one after another, on one thread. The
clients of both sides have the same network, the same random samples (1,000 each), the same
batches of 128, convolutions in the same memory order, and every round waits for all. FedAvg and
MultiKrum have a stock ClientApp: state dict in, local SGD, state dict and number of examples out.
`wola_client` works by the paper's recipe: WoLA loss, momentum in a file after every round, one
flat vector. Medians over rounds; all take turns, so whatever else the machine does meets all
alike. Bytes are those of the objects that Flower sends, over all clients in one round. Time over
FedAvg is the CPU's, of both server and clients; wall time also has waiting for the disk in it
and, on a machine that does other work, for the processor.

Two cautions. Some settings have as few as 6 rounds: a few percent either way mean nothing. And on
the MLP wola computes gradients with code of its own that is faster than PyTorch's autograd, which
the stock client has: with 10 batches that hides what the rest costs. On the convnet both use
autograd."""

COSTS = """\
CPU time of each part alone, in ms per client and round. The signature and the checkpoint are
there only when asked for; a checkpoint is written once a round, whatever n is. The last rows are
what a whole round of one batch costs more than FedAvg's, per client: where that is more than the
sum, the rest is not accounted for."""

FAULTS = """\
Digits on {n} clients with different label mixes, {steps} local steps, {rounds} rounds (2 where a
reply is waited for or is large); each strategy is told f = {f} where it can be told,
FedTrimmedAvg cuts 20 % on either side, MultiKrum keeps n - f, Flower's are to train with all {n};
every round may take {timeout:g} s, for all alike (Flower's default is an hour). wola: its own
rule (NNM, trimmed mean) and quorum, with signatures. The outcome is what the program saw.
"Followed the liar" stands for a final accuracy more than {harm:g} points below that of the same
strategy when nothing happens; "ran on" for one that is not (after 2 rounds, for a model that is
finite). Who waits for nodes that do not come is stopped by the program: Flower's `sample_nodes`
has no end of its own."""

READING = """\
Against a single liar in eight that sends finite numbers of its own Flower's robust strategies
hold, and so does wola: one attack of each kind was tried, none of those made against a rule. What
fells all of Flower's is a reply that does not fit, and, told to train with all, nodes that do not
come; told to do with fewer they would start. Another dtype harms nobody: wola drops it because it
was not asked for. What is left out, and why, stands in wola's record of the round; Flower's
strategies log an error reply and know nothing of the rest. A reply of 100 MB is dropped without
being decoded, but Flower has carried it to the server by then: only a limit before the SuperLink,
such as the proxy's, keeps it out. A name of another sender changes nothing anywhere, since
replies are matched with messages by their ids; a reply copied from another is seen through by its
signature alone, and without keys would count as one more vote."""

ELSEWHERE = """\
What needs processes to fail is not in this table: a SuperLink killed and started again, a node
killed, and who is let in are in `checks/flower.py`; the resumption from a checkpoint with the
clients' momentum is in `tests/flower`. A node that is refused until its heartbeat window ends was
not tried."""
