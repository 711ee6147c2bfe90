"""The compiled operator agrees with the same formula in Python."""

import torch
from soft_clip import soft_clip

x = torch.linspace(-10, 10, 101)
found = soft_clip(x, 3.0)
assert torch.allclose(found, 3.0 * torch.tanh(x / 3.0))
assert found.abs().max() < 3.0
print("soft clip", found.abs().max().item())
