"""A convolution over the edges of a small graph, forward and backward."""

import torch
from torch_spline_conv import spline_conv

x = torch.rand(4, 2, requires_grad=True)
edges = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
pseudo = torch.rand(6, 2)
weight = torch.rand(25, 2, 4, requires_grad=True)
kernel_size, is_open_spline = torch.tensor([5, 5]), torch.tensor([1, 1], dtype=torch.uint8)
found = spline_conv(x, edges, pseudo, weight, kernel_size, is_open_spline, 1, True)
found.sum().backward()
assert found.shape == (4, 4)
assert weight.grad is not None
assert weight.grad.abs().sum() > 0
print("spline convolution", tuple(found.shape))
