"""Two processes that share a batch get what one gets from the whole of it."""

import nn.needs_torch  # noqa: F401, I001

import torch

from nn import two_processes


def test_two_processes_are_one(tmp_path):
    torch.multiprocessing.spawn(two_processes.train, (str(tmp_path),), nprocs=2)
    everything = slice(None)
    alone = two_processes.gradients(two_processes.layer(), everything)
    expected = two_processes.metrics(everything)
    for rank in range(2):
        gradients, metrics = torch.load(tmp_path / f"{rank}.pt")
        torch.testing.assert_close(gradients, alone)
        torch.testing.assert_close(metrics, expected)
