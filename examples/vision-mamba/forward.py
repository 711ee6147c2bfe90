"""A forward pass of a small vision-mamba model, on CPU."""

import torch
from vision_mamba import Vim

torch.manual_seed(0)
model = Vim(
    dim=32,
    dt_rank=8,
    dim_inner=32,
    d_state=16,
    num_classes=10,
    image_size=32,
    patch_size=16,
    channels=3,
    dropout=0.0,
    depth=1,
)
with torch.no_grad():
    out = model(torch.randn(1, 3, 32, 32))
assert out.shape == (1, 10), out.shape
print(f"output of shape {tuple(out.shape)}")
