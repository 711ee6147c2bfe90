"""Runs under the environment's interpreter: one kernel after the other on one device.

argv: descriptor, device (an index, or ``cpu`` for a rehearsal). One JSON object a line as each
stage begins (``{"stage": …}``) and ends (``{"stage": …, "ok": …}``), so that a crash names it.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import math
import os
import sys
from typing import Any, Callable, Dict, Sequence, Type, Union


class TorchKernels:
    """context, matmul, backward with torch."""

    name = "torch"

    def __init__(self, device: str) -> None:
        self.torch = importlib.import_module("torch")
        self.version = self.torch.__version__
        self.device = "cpu" if device == "cpu" else "cuda:%d" % int(device)

    def context(self) -> Dict[str, Any]:
        """Reach the device."""
        torch = self.torch
        if self.device == "cpu":
            return {"device_name": "cpu"}
        torch.cuda.init()
        torch.zeros(1, device=self.device)
        torch.cuda.synchronize(self.device)
        major, minor = torch.cuda.get_device_capability(self.device)
        name = torch.cuda.get_device_name(self.device)
        return {"device_name": name, "capability": "%d.%d" % (major, minor)}

    def matmul(self) -> Dict[str, Any]:
        """A product, compared with the CPU's."""
        torch = self.torch
        torch.backends.cuda.matmul.allow_tf32 = False
        generator = torch.Generator().manual_seed(0)
        left, right = (torch.randn(256, 256, generator=generator) for _ in range(2))
        there = (left.to(self.device) @ right.to(self.device)).to("cpu", torch.float64)
        error = (there - left.double() @ right.double()).abs().max().item()
        return _within(error, 1e-2)

    def backward(self) -> Dict[str, Any]:
        """A gradient, compared with the CPU's."""
        torch = self.torch
        generator = torch.Generator().manual_seed(1)
        inputs = torch.randn(64, 16, generator=generator)
        start = torch.randn(16, 1, generator=generator)
        weights = []
        for device in (self.device, "cpu"):
            weight = start.clone().to(device).requires_grad_()
            optimizer = torch.optim.SGD([weight], lr=0.1)
            loss = ((inputs.to(device) @ weight) ** 2).mean()
            loss.backward()
            optimizer.step()
            weights.append(weight.detach().to("cpu", torch.float64))
        return _within((weights[0] - weights[1]).abs().max().item(), 1e-3)


class JaxKernels:
    """The same three with jax."""

    name = "jax"

    def __init__(self, device: str) -> None:
        self.jax = importlib.import_module("jax")
        self.numpy = importlib.import_module("numpy")
        self.version = self.jax.__version__
        self.wanted = device
        self.device: Any = None

    def context(self) -> Dict[str, Any]:
        """Reach the device."""
        kind, index = ("cpu", 0) if self.wanted == "cpu" else ("gpu", int(self.wanted))
        self.device = self.jax.devices(kind)[index]
        self.jax.device_put(0.0, self.device).block_until_ready()
        return {"device_name": str(self.device.device_kind)}

    def matmul(self) -> Dict[str, Any]:
        """A product, compared with the CPU's."""
        numpy = self.numpy
        left, right = (numpy.random.RandomState(i).randn(256, 256) for i in range(2))
        put = [self.jax.device_put(m.astype("float32"), self.device) for m in (left, right)]
        there = self.jax.numpy.matmul(*put, precision="highest")
        return _within(float(numpy.abs(numpy.asarray(there) - left @ right).max()), 1e-2)

    def backward(self) -> Dict[str, Any]:
        """A gradient, compared with the CPU's."""
        numpy = self.numpy
        inputs = numpy.random.RandomState(2).randn(64, 16).astype("float32")
        weight = numpy.random.RandomState(3).randn(16, 1).astype("float32")
        put = [self.jax.device_put(m, self.device) for m in (weight, inputs)]
        slope = self.jax.grad(lambda w, x: ((x @ w) ** 2).mean())(*put)
        expected = 2 * inputs.T @ (inputs @ weight) / 64
        return _within(float(numpy.abs(numpy.asarray(slope) - expected).max()), 5e-2)


def _within(error: float, tolerance: float) -> Dict[str, Any]:
    if not math.isfinite(error) or error > tolerance:
        raise ArithmeticError("differs from the CPU by %r, allowed %r" % (error, tolerance))
    return {"difference": error}


def main() -> None:
    """Report stage by stage; the process ends in here."""
    report = os.fdopen(int(sys.argv[1]), "w", encoding="ascii")
    os.set_inheritable(report.fileno(), False)

    def say(**message: Any) -> None:
        report.write(json.dumps(message) + "\n")
        report.flush()

    def attempt(stage: str, action: Callable[[], Any]) -> Any:
        say(stage=stage)
        try:
            result = action()
        except BaseException as exc:  # a stage that ends the process has failed
            text = "%s" % exc
            say(stage=stage, ok=False, type=type(exc).__name__[:200], message=text[:2000])
            os._exit(0)
        return result

    device = sys.argv[2]
    known: Sequence[Type[Union[TorchKernels, JaxKernels]]] = (TorchKernels, JaxKernels)
    found = [k for k in known if importlib.util.find_spec(k.name)]
    if not found:
        say(stage="import", ok=False, type="NoFramework", message="neither torch nor jax")
        os._exit(0)
    kernels = attempt("import", lambda: found[0](device))
    say(stage="import", ok=True, framework=kernels.name, version=str(kernels.version))
    for stage in ("context", "matmul", "backward"):
        say(stage=stage, ok=True, **attempt(stage, getattr(kernels, stage)))
    os._exit(0)


if __name__ == "__main__":
    main()
