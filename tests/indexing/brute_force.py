"""Maps by their text alone: Python evaluates it, point by point.

Independent of the package's own parser, evaluation and enumeration.
"""

import itertools
import re

_FORM = re.compile(
    r"\(([^)]*)\)(?:\[([^\]]*)\])?(?:\{([^}]*)\})? -> \((.*?)\)(?:, domain: (.*))?$",
    re.DOTALL,
)
_ENTRY = re.compile(r"(.*) in \[(-?\d+), (-?\d+)\]$", re.DOTALL)


def _split(text):
    """At the commas that are inside of no brackets."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "([") - (c in ")]")
        if c == "," and not depth:
            parts.append(text[start:i].strip())
            start = i + 1
    return [p for p in [*parts, text[start:].strip()] if p]


def _python(text):
    return text.replace("floordiv", "//").replace("mod", "%")


class Text:
    """The variables, results and domain of a map's one line."""

    def __init__(self, text):
        self.empty = text == "KNOWN EMPTY"
        if self.empty:
            return
        head, _, domain = text.partition(", domain: ")
        names, _, results = head.partition(" -> ")
        d, s, rt = _FORM.match(f"{names} -> ()").groups()[:3]
        self.groups = [_split(g or "") for g in (d, s, rt)]
        self.names = [name for group in self.groups for name in group]
        assert results[0] == "("
        assert results[-1] == ")"
        self.results = [_python(r) for r in _split(results[1:-1])]
        self.bounds, self.constraints = {}, []
        for entry in _split(domain):
            expression, lower, upper = _ENTRY.match(entry).groups()
            if expression in self.names and expression not in self.bounds:
                self.bounds[expression] = (int(lower), int(upper))
            else:
                self.constraints.append((_python(expression), int(lower), int(upper)))

    def points(self):
        """Each point of the domain with the results there."""
        if self.empty:
            return
        arguments = f"lambda {', '.join(self.names)}: "
        inside = eval(
            arguments
            + " and ".join(
                ["True", *(f"{a} <= {e} <= {b}" for e, a, b in self.constraints)]
            )
        )
        value = eval(arguments + f"({''.join(r + ', ' for r in self.results)})")
        axes = [range(a, b + 1) for a, b in (self.bounds[n] for n in self.names)]
        for point in itertools.product(*axes):
            if inside(*point):
                yield point, value(*point)


def graph(map_or_text):
    """The set of all ``(values of the variables, results)``."""
    return set(Text(str(map_or_text)).points())


def relation(map_or_text):
    """The set of all ``(dimensions, results)``."""
    text = Text(str(map_or_text))
    if text.empty:
        return set()
    n = len(text.groups[0])
    return {(point[:n], results) for point, results in text.points()}
