"""Write the parts of the documentation that the code knows: commands, choices, settings, graph."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any

from app.cli.help_examples import COMMAND_EXAMPLES
from app.cli.main import load_command
from config.errors import ErrorCode, ErrorKind
from config.settings import ENV_PREFIX, Settings
from graph.builder import make_graph, make_step_graph
from graph.context import CHOICE_BOUNDS, Context
from graph.depth import DEPTHS, LIMITS, RunLimits

DOCS = Path(__file__).parents[1] / "docs"

REFERENCE_PAGE = DOCS / "reference.md"

GRAPH_PAGE = DOCS / "server.md"

_INTRODUCTION = """\
# Reference

This page is written by `make docs` from the code: do not edit it.

- [Commands](#commands)
- [Choices of a run](#choices-of-a-run)
- [Settings](#settings)
- [Error codes](#error-codes)
"""


def render_reference() -> str:
    """Return the page of all commands, choices, settings and error codes."""
    parts = [_INTRODUCTION, "## Commands\n", *_list_commands(load_command(), "")]
    parts += [_render_choices(), _render_settings(), _render_error_codes()]
    return "\n".join(parts)


def _list_commands(command: Any, path: str) -> Iterator[str]:
    """Give the section of a command, or those of all commands of a group."""
    below = getattr(command, "commands", {})
    for name in sorted(below):
        yield from _list_commands(below[name].load(), f"{path} {name}".strip())
    if path and not below and not command.hidden:
        yield _render_command(command, path)


def _render_command(command: Any, path: str) -> str:
    """Return the section of one command: what it does, its parameters, examples."""
    says = inspect.cleandoc(command.help or "").replace("\f", "").replace("\b\n", "")
    shown = [one for one in command.params if not getattr(one, "hidden", False)]
    rows = [f"| {_parameter_name(one)} | {_cell(one.help or '')} |" for one in shown]
    table = "\n".join(["| | |", "|---|---|", *rows, ""]) if rows else ""
    examples = "\n".join(["```", *COMMAND_EXAMPLES.get(path, (f"dossier {path}",)), "```", ""])
    return f"### dossier {path}\n\n{says}\n\n{table}\n{examples}"


def _parameter_name(parameter: Any) -> str:
    """Return how an argument or an option is typed."""
    if parameter.param_type_name == "argument":
        return f"`{parameter.metavar or parameter.name.upper()}`"
    names = ", ".join(f"`{name}`" for name in [*parameter.opts, *parameter.secondary_opts])
    return names if parameter.is_flag else _cell(f"{names} {parameter.metavar or 'VALUE'}")


def _cell(text: str) -> str:
    """Return a text as one cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def _render_choices() -> str:
    """Return the table of what a run may choose."""
    intro = "`--set NAME=VALUE` on the command line, `context` over the server; Studio has a form."
    rows = ["| choice | default | bounds | |", "|---|---|---|---|"]
    for one in fields(Context):
        bounds = "–".join(f"{bound:,g}" for bound in CHOICE_BOUNDS.get(one.name, ()))
        description = _cell(one.metadata["description"])
        rows.append(f"| `{one.name}` | {_default_of(one)} | {bounds} | {description} |")
    return "\n".join(["## Choices of a run\n", intro, "", *rows, "", *_render_depths(), ""])


def _render_depths() -> list[str]:
    """Return the rows of the table of what each depth allows."""
    rows = [f"| by depth | {' | '.join(f'`{depth}`' for depth in DEPTHS)} |"]
    rows.append(f"|---|{'--:|' * len(DEPTHS)}")
    for name in RunLimits._fields:
        allowed = [f"{getattr(LIMITS[depth], name):,g}" for depth in DEPTHS]
        rows.append(f"| `{name}` | {' | '.join(allowed)} |")
    return rows


def _default_of(one: Field[Any]) -> str:
    """Return the default of a field; nothing where it is empty."""
    return "" if one.default in (MISSING, "", None, ()) else f"`{one.default}`"


def _render_settings() -> str:
    """Return the table of the settings of an installation."""
    # What each setting means stands below it in the class.
    below = re.compile(r'^    (\w+): [^\n]*\n    """(.*?)"""', re.MULTILINE | re.DOTALL)
    says = dict(below.findall(inspect.getsource(Settings)))
    intro = "From the environment or `.env` in the home: see [configuration](configuration.md)."
    rows = ["| variable | default | |", "|---|---|---|"]
    for one in fields(Settings):
        default = "`~/.dossier`" if one.name == "home" else _default_of(one)
        rows.append(f"| `{ENV_PREFIX}{one.name.upper()}` | {default} | {_cell(says[one.name])} |")
    return "\n".join(["## Settings\n", intro, "", *rows, ""])


def _render_error_codes() -> str:
    """Return the table of error codes, by the exit status of the command."""
    rows = ["| exit status | kind | codes |", "|---|---|---|"]
    for kind in ErrorKind:
        codes = ", ".join(f"`{code.value}`" for code in ErrorCode if code.kind is kind)
        if codes:
            name = kind.name.lower().replace("_", " ")
            rows.append(f"| {kind.exit_status} | {name} | {codes} |")
    return "\n".join(["## Error codes\n", *rows, ""])


def fill_graph(text: str) -> str:
    """Return a page with the picture of the graph, and that of one step, between their marks."""
    drawn = [make_graph().get_graph(), make_step_graph().get_graph()]
    blocks = [f"```mermaid\n{graph.draw_mermaid().strip()}\n```" for graph in drawn]
    start, end = "<!-- graph -->\n", "<!-- /graph -->"
    before, _, rest = text.partition(start)
    picture = "\n\nInside `step`:\n\n".join(blocks)
    return f"{before}{start}{picture}\n{end}{rest.partition(end)[2]}"


if __name__ == "__main__":
    REFERENCE_PAGE.write_text(render_reference(), "utf-8")
    GRAPH_PAGE.write_text(fill_graph(GRAPH_PAGE.read_text("utf-8")), "utf-8")
