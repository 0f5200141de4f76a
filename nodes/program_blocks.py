"""What a model is told of programs whose results it sees: their text, and the figures they drew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graph.records import Source
from prompts.data_blocks import render_block, wrap_blocks
from report.figure_captions import find_figure_caption
from tools.computations import ComputationRecord
from tools.program_files import is_figure

MAX_PROGRAM = 8_000
"""The most characters of a program that are shown."""

MAX_PROGRAMS = 16_000
"""The most characters of all programs together that are shown."""

_CUT = "\n# […]"


def render_figures_block(computations: Mapping[str, ComputationRecord]) -> str:
    """Mark the figures of computations: a line each, with the id, what it shows and its file.

    Args:
        computations: How each of some sources was computed, by its id.
    """
    lines = []
    for name, record in computations.items():
        for file in (one["name"] for one in record["files"] if is_figure(one["name"])):
            caption = find_figure_caption(record["code"], file)
            lines.append(f"- {name}: {caption} ({file})" if caption else f"- {name}: {file}")
    return render_block("figures", "\n".join(lines))


def render_programs_block(computations: Mapping[str, ComputationRecord]) -> str:
    """Mark the programs of computations with the ids of their results, within `MAX_PROGRAMS`."""
    left, marked = MAX_PROGRAMS, []
    for name, record in computations.items():
        most = min(left, MAX_PROGRAM)
        code = record["code"].strip()
        shown = code if len(code) <= most else code[:most].rpartition("\n")[0] + _CUT
        left -= len(shown)
        if most > 0:
            marked.append(render_block("program", shown, id=name))
    return wrap_blocks("programs", marked)


def select_computed_sources(
    sources: Mapping[str, Source], cited: Sequence[str]
) -> dict[str, Source]:
    """Return the sources among those cited that code computed, in the order of their citations."""
    names = dict.fromkeys(name for name in cited if name in sources)
    return {name: sources[name] for name in names if sources[name]["kind"] == "computed"}
