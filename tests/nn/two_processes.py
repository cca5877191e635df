"""What each of two processes does in `test_distributed`; they import it by its name."""

import torch

from nn.cases import EVERY, batch
from shortlist import nn

METRICS = [nn.TopKAccuracy(2), nn.RankLoss(), nn.F1Score("macro"), nn.MeanAveragePrecision("step")]


def layer():
    torch.manual_seed(0)
    return torch.nn.Linear(8, 8).double()


def gradients(network, part):
    """The gradients of every loss of a part of its batch."""
    found = []
    for name, loss in EVERY:
        u, labels = batch(name, n=12, m=8)
        network.zero_grad()
        nn.Loss(loss)(network(u[part]), labels[part]).backward()
        found += [parameter.grad.clone() for parameter in network.parameters()]
    return found


def metrics(part):
    u, labels = batch("multilabel", n=12, m=8)
    for metric in METRICS:
        metric.reset()
        metric.update(u[part], labels[part])
    return [metric.compute() for metric in METRICS]


def train(rank, folder):
    """Join the other process, train on every other example, write what came out."""
    torch.set_num_threads(1)
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{folder}/store", rank=rank, world_size=2
    )
    try:
        network = torch.nn.parallel.DistributedDataParallel(layer())
        part = slice(rank, None, 2)
        torch.save((gradients(network, part), metrics(part)), f"{folder}/{rank}.pt")
    finally:
        torch.distributed.destroy_process_group()
