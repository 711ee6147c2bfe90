"""E0321: the accelerator is not enough for a CUDA plugin of JAX, or not the CUDA of TensorFlow."""

from __future__ import annotations

from collections.abc import Iterator

from envspec.diagnostics import Diagnostic, Fix, Label
from envspec.facts import lookup
from envspec.facts.device_code import Sm, parse_sm
from envspec.facts.rows import JaxPlugin
from envspec.facts.versions import differs, older
from envspec.model import Package
from envspec.placing import within
from envspec.rules.shared import places, pytorch
from envspec.rules.view import View
from envspec.source import Span
from envspec.stated import forward_compatible
from envspec.wording import either

CODE = "E0321"


def check(view: View) -> Iterator[Diagnostic]:
    """One finding for each need that the accelerator does not meet, at its line."""
    if not view.cuda:
        return
    for package in view.spec.packages:
        if package.name == "jax":
            rows = {r.plugin: r for e in package.extras if (r := lookup.jax_plugin_of(e))}
            for row in rows.values():
                yield from _jax(view, package, row)
        elif package.name == "tensorflow":
            yield from _tensorflow(view, package)


def _jax(view: View, package: Package, row: JaxPlugin) -> Iterator[Diagnostic]:
    accelerator = view.spec.accelerator
    who, jax = f"`jax[{row.plugin}]`", view.settled.get("jax")
    release = lookup.jax_release(jax.public) if jax else None
    if release and row.plugin not in release.plugins:
        title = f"JAX {release.release} has no plugin for CUDA {row.cuda.partition('.')[0]}"
        named = either(f"jax[{plugin}]" for plugin in release.plugins)
        cause = "an extra that a release does not have is left out without an error, and JAX then "
        cause += "runs on the CPU"
        hint = f"take {named}" if named else "take a newer JAX"
        yield Diagnostic(
            CODE, title, view.source, (Label(package.span, "asked for here"),), cause, hint
        )
        return
    yield from _driver(view, package, who, row.driver)
    needed = parse_sm(row.sm_min)
    for gpu in accelerator.gpus:
        sm = parse_sm(gpu)
        if sm and needed and sm[:2] < needed[:2]:
            at = within(view.source, accelerator.gpus_span, gpu) or accelerator.gpus_span
            title = f"{who} needs compute capability {row.sm_min}, and `{gpu}` is older"
            cause = f"the plugin holds no code for GPUs below {row.sm_min}"
            choice = f"take `{gpu}` out of `gpus`"
            yield _finding(view, package, title, at, "older", cause, choice + _other(row, sm))
    cuda, plugin = accelerator.toolkit, row.cuda.partition(".")[0]
    if cuda and not view.torch_cuda and differs(cuda.partition(".")[0], plugin):
        title = f"{who} is built for CUDA {plugin}, and the accelerator states {cuda}"
        cause = f"the plugin takes CUDA {row.cuda} and newer of that major, and no other major"
        hint = f"write `accelerator cuda {row.cuda}` or a newer {plugin}.x, or take another extra"
        yield _finding(view, package, title, accelerator.toolkit_span, f"CUDA {cuda}", cause, hint)
    if accelerator.cudnn and jax and not older(jax.public, row.cudnn_since):
        low = older(accelerator.cudnn, row.cudnn_min)
        if low or not older(accelerator.cudnn, row.cudnn_below):
            title = f"{who} needs cuDNN {row.cudnn_min} or newer, below {row.cudnn_below}"
            stated = accelerator.cudnn
            cause = f"the spec states {stated}, and the plugin checks it when it starts"
            hint = f"write `cudnn {row.cudnn_min}` or newer, or drop the line"
            yield _finding(view, package, title, accelerator.cudnn_span, "stated here", cause, hint)


def _other(row: JaxPlugin, sm: Sm) -> str:
    """The other plugin, where it still runs on an older GPU."""
    other = lookup.jax_plugin("cuda12") if row.plugin != "cuda12" else None
    least = parse_sm(other.sm_min) if other else None
    return f", or take `jax[{other.plugin}]`" if other and least and sm[:2] >= least[:2] else ""


def _tensorflow(view: View, package: Package) -> Iterator[Diagnostic]:
    """Plain TensorFlow beside another user of the GPU may be there for its tools alone."""
    settled = view.settled.get("tensorflow")
    row = lookup.tensorflow_release(settled.public) if settled else None
    if row is None or not settled:
        return
    brings = "and-cuda" in package.extras
    others = [n for n in pytorch.other_gpu_users(view) if n != "tensorflow"]
    if not brings and ("torch" in view.settled or "torch" in view.stated or others):
        return
    if package.because and not brings:
        return
    who, accelerator = f"TensorFlow {settled.public}", view.spec.accelerator
    floor = lookup.driver_floor(row.cuda)
    if floor and not view.torch_cuda and not accelerator.toolkit:
        yield from _driver(view, package, who, floor.linux)
    wanted, stated = row.cuda.partition(".")[0], accelerator.toolkit
    if stated and differs(stated.partition(".")[0], wanted):
        title = f"{who} is built for CUDA {row.cuda}, and the accelerator states {stated}"
        cause = f"it loads the libraries of CUDA {wanted} by name, not those of {stated}"
        at, name = accelerator.toolkit_span, f"state CUDA {row.cuda}"
        fix = (
            places.replace(view.source, at, stated, row.cuda, name) if not view.torch_cuda else None
        )
        hint = f"write `accelerator cuda {row.cuda}`"
        yield _finding(view, package, title, at, f"CUDA {stated}", cause, hint, fix)


def _driver(view: View, package: Package, who: str, floor: str) -> Iterator[Diagnostic]:
    accelerator = view.spec.accelerator
    if not older(accelerator.driver, floor) or forward_compatible(view.spec):
        return
    stated = f">={accelerator.driver}"
    fix = places.replace(
        view.source, accelerator.driver_span, stated, f">={floor}", f"ask for driver {floor}"
    )
    title = f"{who} needs driver {floor}, and the spec allows {accelerator.driver}"
    cause = f"its CUDA runs on driver {floor} and newer"
    at, label, hint = accelerator.driver_span, "the oldest allowed", f"write `driver >={floor}`"
    yield _finding(view, package, title, at, label, cause, hint, fix)


def _finding(
    view: View,
    package: Package,
    title: str,
    at: Span,
    label: str,
    cause: str,
    hint: str,
    fix: Fix | None = None,
) -> Diagnostic:
    labels = (Label(at, label), Label(package.span, "asked for here"))
    return Diagnostic(CODE, title, view.source, labels, cause=cause, hint=hint, fix=fix)
