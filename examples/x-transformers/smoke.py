"""One forward pass and one training step of a small x-transformers model, on CPU."""

import torch
from x_transformers import AutoregressiveWrapper, Decoder, TransformerWrapper

torch.manual_seed(0)
model = TransformerWrapper(
    num_tokens=256,
    max_seq_len=64,
    attn_layers=Decoder(dim=64, depth=2, heads=4),
)
tokens = torch.randint(0, 256, (2, 32))
logits = model(tokens)
assert logits.shape == (2, 32, 256), logits.shape

training = AutoregressiveWrapper(model)
optimiser = torch.optim.Adam(training.parameters(), lr=1e-3)
before = [p.detach().clone() for p in training.parameters()]
loss = training(tokens)
loss.backward()
optimiser.step()
assert torch.isfinite(loss), loss
assert any(not torch.equal(a, b) for a, b in zip(before, training.parameters()))
print(f"loss {loss.item():.3f}")
