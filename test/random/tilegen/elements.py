"""The tree of a `parallel` loop: statements and operands of one iteration. Other nodes of expressions stand for scalars there.

Subscripts and bounds are text over the loop's indices, counters of inner loops and scalars of block code; they are never negative
where they divide."""
from dataclasses import dataclass

from .nodes import If, hinted, indented, strip


@hinted
@dataclass
class Parallel:
    variables: list
    over: str  # a tile whose shape the loop runs over, or nothing
    extents: list
    body: list
    in_place = True  # moves into no function

    def lines(self):
        names = self.variables[0] if len(self.variables) == 1 else f"({', '.join(self.variables)})"
        yield f"parallel {names} in {self.over or '[' + ', '.join(self.extents) + ']'} {{"
        yield from indented(self.body)
        yield "}"


@dataclass
class ElementOf:
    """An element of a tile or tensor."""

    name: str
    subscripts: list

    def text(self):
        return f"{self.name}[{', '.join(self.subscripts)}]"


@dataclass
class Local:
    """A `let` or `var` of the iteration."""

    name: str

    def text(self):
        return self.name


@dataclass
class Number:
    """An index as a number of a format."""

    code: str
    format: str

    def text(self):
        return self.code if self.format == "i32" else f"{self.format}({self.code})"


@dataclass
class Holds:
    """A condition on indices."""

    code: str

    def text(self):
        return f"({self.code})"


@dataclass
class LetLocal:
    name: str
    format: str
    value: object
    word: str = "let"

    def lines(self):
        yield f"{self.word} {self.name}: {self.format} = {strip(self.value.text())};"


@dataclass
class SetLocal:
    name: str
    value: object

    def lines(self):
        yield f"{self.name} = {strip(self.value.text())};"


@dataclass
class Put:
    """One element; the subscripts of different iterations are different."""

    place: ElementOf
    value: object

    def lines(self):
        yield f"{self.place.text()} = {strip(self.value.text())};"


class Where(If):
    """Its condition is an expression of the iteration."""


@dataclass
class Times:
    """A loop of the iteration."""

    variable: str
    start: str
    end: str
    body: list

    def lines(self):
        yield f"for {self.variable} in {self.start}..{self.end} {{"
        yield from indented(self.body)
        yield "}"


@dataclass
class Leave:
    """Leaves the loop around it, or this round of it, where the condition holds."""

    word: str  # break, continue
    condition: object

    def lines(self):
        yield f"if {strip(self.condition.text())} {{ {self.word}; }}"
