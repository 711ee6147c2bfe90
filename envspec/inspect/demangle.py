"""C++ symbols as people write them: the common shapes of the Itanium ABI.

`demangle` gives None for a shape it does not know (lambdas, expressions, local names, packs), and
the symbol is then shown as it is. Depth and length are bounded, for names are input.
"""

from __future__ import annotations

from typing import NoReturn

from envspec.inspect.mangled_names import BUILTIN, OPERATORS, SPECIAL, STD

_DEEPEST = 60
_LONGEST = 4000
_DIGITS = frozenset("0123456789")


def demangle(symbol: str) -> str | None:
    """The declaration that a symbol stands for; None where it is none or of another shape."""
    if not symbol.startswith("_Z") or len(symbol) > _LONGEST or not symbol.isascii():
        return None
    reader = _Reader(symbol, 2)
    try:
        text = reader.encoding()
    except _UnknownShapeError:
        return None
    return text if reader.at == len(symbol) and len(text) <= 4 * _LONGEST else None


class _UnknownShapeError(Exception):
    pass


class _Reader:
    """One pass over a symbol. ``seen`` are the parts that `S_`, `S0_`, … stand for."""

    def __init__(self, text: str, at: int) -> None:
        self.text, self.at, self.depth, self.steps = text, at, 0, 0
        self.seen: list[str] = []
        self.arguments: list[str] = []
        self.qualifier = ""
        self.named = False
        self.returns = False  # whether the name ends in template arguments

    def encoding(self) -> str:
        for code, words in SPECIAL.items():
            if self.take(code):
                return words + (self.type() if code[0] == "T" else self.name())
        name = self.name()
        self.named = True
        qualifier, returns = self.qualifier, self.returns
        if self.at == len(self.text):
            return name
        result = self.type() + " " if returns else ""
        types = []
        while self.at < len(self.text):
            types.append(self.type())
        listed = "" if types == ["void"] else ", ".join(types)
        return f"{result}{name}({listed}){qualifier}"

    def name(self) -> str:
        self.qualifier, self.returns = "", False
        if self.peek() == "N":
            return self.nested()
        if self.peek() == "Z":
            self.fail()
        if self.take("St"):
            name = "std::" + self.plain("std")
        elif self.peek() == "S":
            name = self.substitution()
        else:
            name = self.plain("")
            if self.peek() == "I":
                self.remember(name)
        if self.peek() == "I":
            if name.startswith("std::") and name not in self.seen and name not in STD.values():
                self.remember(name)
            name += " " * name.endswith("<") + self.template()
            self.returns = True
        return name

    def nested(self) -> str:
        self.expect("N")
        qualifier = ""
        while self.peek() in {"r", "V", "K"}:
            qualifier += {"r": " restrict", "V": " volatile", "K": " const"}[self.step()]
        if self.peek() in {"R", "O"}:
            qualifier += {"R": " &", "O": " &&"}[self.step()]
        name, last, special = "", "", False
        while not self.take("E"):
            templated = False
            if self.peek() == "S" and not name:
                if self.take("St"):
                    name = "std"
                    continue
                name = self.substitution()
                last = name.partition("<")[0].rpartition("::")[2]
                if last == "string":  # std::string's constructor has the class's whole name
                    last = "basic_string"
                continue
            if self.peek() == "T" and not name:
                name = self.parameter()
            elif self.peek() == "I":
                name += " " * name.endswith("<") + self.template()
                templated = True
            elif self.peek() in {"C", "D"} and self.text[self.at + 1 : self.at + 2] in {*"0123"}:
                name += "::" + ("~" if self.step() == "D" else "") + last
                self.step()
                special = True
                if self.peek() == "I":
                    self.remember(name)
                continue
            else:
                last = self.plain(last)
                special = last.startswith("operator ") and last not in {
                    "operator new",
                    "operator delete",
                }
                name = f"{name}::{last}" if name else last
            self.returns = templated and not special
            if self.peek() != "E":
                self.remember(name)
            if len(name) > _LONGEST:
                self.fail()
        self.qualifier = qualifier
        if special:
            self.returns = False
        return name

    def plain(self, inside: str) -> str:  # noqa: ARG002 - what it is in, for readers
        if self.take("L"):
            pass
        if self.peek() in _DIGITS:
            number = ""
            while self.peek() in _DIGITS:
                number += self.step()
                if len(number) > 4:
                    self.fail()
            length = int(number)
            if not length or self.at + length > len(self.text):
                self.fail()
            name = self.text[self.at : self.at + length]
            self.at += length
            if name.startswith("_GLOBAL__N"):
                name = "(anonymous namespace)"
            while self.take("B"):
                name += f"[abi:{self.plain('')}]"
            return name
        if self.take("cv"):
            return "operator " + self.type()
        code = self.text[self.at : self.at + 2]
        if code not in OPERATORS:
            self.fail()
        self.at += 2
        return "operator" + OPERATORS[code]

    def substitution(self) -> str:
        code = self.text[self.at : self.at + 2]
        if code in STD:
            self.at += 2
            return STD[code]
        self.expect("S")
        digits = ""
        while self.peek() != "_":
            digits += self.step()
            if len(digits) > 3 or not (digits.isdigit() or digits.isupper() or digits.isalnum()):
                self.fail()
        self.step()
        try:
            number = int(digits, 36) + 1 if digits else 0
        except ValueError:
            self.fail()
        if number >= len(self.seen):
            self.fail()
        return self.seen[number]

    def parameter(self) -> str:
        self.expect("T")
        digits = ""
        while self.peek() in _DIGITS and len(digits) < 3:
            digits += self.step()
        self.expect("_")
        number = int(digits) + 1 if digits else 0
        if number >= len(self.arguments):
            self.fail()
        name = self.arguments[number]
        self.remember(name)
        return name

    def template(self) -> str:
        self.expect("I")
        made: list[str] = []
        while not self.take("E"):
            if self.take("L"):
                made.append(self.literal())
            elif self.take("J"):
                while not self.take("E"):
                    made.append(self.type())
            elif self.peek() == "X":
                self.fail()
            else:
                made.append(self.type())
        if not self.named:  # what T_ stands for are the arguments of the function's own name
            self.arguments = made
        inner = ", ".join(made)
        return f"<{inner} >" if inner.endswith(">") else f"<{inner}>"

    def literal(self) -> str:
        kind = self.type()
        value = ""
        while self.peek() != "E":
            value += self.step()
        self.step()
        value = value.replace("n", "-")
        if not value.lstrip("-").isdigit():
            self.fail()
        if kind == "bool":
            return {"0": "false", "1": "true"}.get(value, value)
        suffix = {"int": "", "unsigned int": "u", "long": "l", "unsigned long": "ul"}.get(kind)
        return f"({kind}){value}" if suffix is None else value + suffix

    def type(self) -> str:
        self.depth += 1
        self.steps += 1
        if self.depth > _DEEPEST or self.steps > _LONGEST:
            self.fail()
        text = self._type()
        self.depth -= 1
        if len(text) > _LONGEST:
            self.fail()
        return text

    def _type(self) -> str:
        code = self.peek()
        if code in BUILTIN:
            self.step()
            return BUILTIN[code]
        if code in {"P", "R", "O"}:
            self.step()
            inner = self.type()
            mark = {"P": "*", "R": "&", "O": "&&"}[code]
            if "(*)" in inner or " (" in inner or inner.endswith("]"):
                self.fail()
            if inner.endswith("&"):
                if mark == "*":
                    self.fail()
                # References collapse: only && of && stays &&.
                both = mark == "&&" and inner.endswith("&&")
                return self.remember(inner if both else inner.rstrip("&") + "&")
            return self.remember(inner + mark)
        if code in {"K", "V"}:
            self.step()
            word = {"K": " const", "V": " volatile"}[code]
            inner = self.type()
            return self.remember(inner if inner.endswith(word) else inner + word)
        if code == "F":
            return self.function()
        if code == "D":
            if self.take("Dn"):
                return "decltype(nullptr)"
            self.fail()
        if code == "T":
            return self.parameter_type()
        if code == "S" and self.text[self.at + 1 : self.at + 2] != "t":
            name = self.substitution()
            if self.peek() == "I":
                name = self.remember(name + self.template())
            return name
        if code == "N" or code in _DIGITS or code == "S":
            outer = self.qualifier, self.returns
            name = self.name()
            self.qualifier, self.returns = outer
            return self.remember(name)
        return self.fail()

    def parameter_type(self) -> str:
        name = self.parameter()
        if self.peek() == "I":
            self.fail()
        return name

    def function(self) -> str:
        self.expect("F")
        result, types = self.type(), []
        while not self.take("E"):
            types.append(self.type())
        listed = "" if types == ["void"] else ", ".join(types)
        return self.remember(f"{result} ({listed})")

    def remember(self, name: str) -> str:
        if len(self.seen) > _LONGEST:
            self.fail()
        self.seen.append(name)
        return name

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def step(self) -> str:
        if self.at >= len(self.text):
            self.fail()
        self.at += 1
        return self.text[self.at - 1]

    def take(self, code: str) -> bool:
        if self.text.startswith(code, self.at):
            self.at += len(code)
            return True
        return False

    def expect(self, code: str) -> None:
        if not self.take(code):
            self.fail()

    def fail(self) -> NoReturn:
        raise _UnknownShapeError
