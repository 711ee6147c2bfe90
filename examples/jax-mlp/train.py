"""A network with one hidden layer learns a sine; the loss has to fall."""

import jax
import jax.numpy as jnp
import numpy as np

x = np.linspace(-3, 3, 200).reshape(-1, 1)
y = np.sin(x)
first, second = jax.random.split(jax.random.key(0))
weights = {
    "a": 0.5 * jax.random.normal(first, (1, 32)),
    "b": jnp.zeros(32),
    "c": 0.2 * jax.random.normal(second, (32, 1)),
}


def loss(w):
    hidden = jnp.tanh(x @ w["a"] + w["b"])
    return jnp.mean((hidden @ w["c"] - y) ** 2)


@jax.jit
def step(w):
    return jax.tree.map(lambda value, slope: value - 0.1 * slope, w, jax.grad(loss)(w))


before = float(loss(weights))
for _ in range(500):
    weights = step(weights)
after = float(loss(weights))
print(f"loss {before:.3f} -> {after:.3f}")
assert after < 0.3 * before
