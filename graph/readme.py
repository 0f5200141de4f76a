"""Write into the README what the code knows better: the picture of the graph and the choices."""

from __future__ import annotations

from dataclasses import MISSING, fields
from pathlib import Path

from graph.builder import make_graph, make_step_graph
from graph.context import Context

README = Path(__file__).parents[1] / "README.md"


def _draw_graphs() -> str:
    """Return the graph, and the branch of one step, as Mermaid blocks."""
    drawn = [make_graph().get_graph(), make_step_graph().get_graph()]
    blocks = [f"```mermaid\n{graph.draw_mermaid().strip()}\n```" for graph in drawn]
    return "\n\nInside `step`:\n\n".join(blocks)


def _choices_table() -> str:
    """Return the table of what a run may choose."""
    rows = ["| choice | default | |", "|---|---|---|"]
    for one in fields(Context):
        value = one.default if one.default is not MISSING else ""
        default = f"`{value}`" if value != "" else ""
        rows.append(f"| `{one.name}` | {default} | {one.metadata['description']} |")
    return "\n".join(rows)


def fill_readme(text: str) -> str:
    """Return a text with both put between their marks."""
    for name, block in (("graph", _draw_graphs()), ("choices", _choices_table())):
        start, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
        before, _, rest = text.partition(start)
        text = f"{before}{start}{block}\n{end}{rest.partition(end)[2]}"
    return text


if __name__ == "__main__":
    README.write_text(fill_readme(README.read_text("utf-8")), "utf-8")
