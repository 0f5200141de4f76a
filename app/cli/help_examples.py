"""What the help of a command shows below its options: examples, and what a choice takes."""

from __future__ import annotations

import textwrap

from app.cli.choices import CHOICE_VALUES, SETTABLE_CHOICES
from graph.context import CHOICE_BOUNDS, Context

WIDTH = 78

COMMAND_EXAMPLES = {
    "ask": (
        'dossier ask "How do bees find food?" --docs notes --docs paper.pdf',
        "dossier ask - --docs notes --yes < question.txt",
        'dossier ask "Is it so in winter too?" --thread 20260101-a1b2c3 --json',
        'dossier ask "Make it shorter" --thread 20260101-a1b2c3',
        'dossier ask "How do bees find food?" --docs notes --again refresh',
        'dossier ask "How do bees find food?" --docs notes --set max_steps=2 --set language=zh',
    ),
    "resume": (
        "dossier resume 20260101-a1b2c3-1 --approve",
        'dossier resume 20260101-a1b2c3-1 --reject "leave the history out"',
        "dossier resume 20260101-a1b2c3-1 --plan plan.md",
        "dossier resume 20260101-a1b2c3-1 --again reuse",
        "dossier resume 20260101-a1b2c3-1 --answer q1=Austria --answer q2=no",
        "dossier resume 20260101-a1b2c3-1 --set max_tokens=400000",
    ),
    "export": (
        "dossier export 20260101-a1b2c3-1 --format pdf",
        "dossier export 20260101-a1b2c3-1 --out bees.docx",
        "dossier export 20260101-a1b2c3-1 --format pdf --style author-year",
        "dossier export 20260101-a1b2c3-1 --format bib --out refs.bib --force",
    ),
    "feedback": (
        "dossier feedback 20260101-a1b2c3-1 up",
        'dossier feedback 20260101-a1b2c3-1 "It was 1927 and not 1972."',
    ),
    "mcp list": ("dossier mcp list", "dossier mcp list --project .", "dossier mcp list --json"),
    "mcp test": ("dossier mcp test time",),
    "mcp approve": ("dossier mcp approve time",),
    "users add": ("dossier users add ada", "dossier users add grace --operator"),
    "users list": ("dossier users list",),
    "users token": ('dossier users token ada --expires 90d --label "notebook"',),
    "users revoke": ("dossier users revoke dsr_1a2b3c4d", "dossier users revoke ada"),
    "users remove": ("dossier users remove ada",),
    "ingest": ("dossier ingest notes paper.pdf", "dossier ingest --chat talk.jsonl"),
    "kb add": (
        'dossier kb add hives ~/hives --about "our hives: weight, queens, yields"',
        'dossier kb add papers s3://lab/papers --about "papers on bee navigation"',
        "dossier kb add wiki https://dify.example.org/v1 --kind dify --option dataset=ID "
        '--about "how we work"',
    ),
    "kb list": ("dossier kb list",),
    "kb show": ("dossier kb show hives",),
    "kb refresh": ("dossier kb refresh hives", "dossier kb refresh"),
    "kb remove": ("dossier kb remove hives",),
    "kb search": ('dossier kb search hives "queens of 2025"',),
    "watch add": (
        'dossier watch add "What is new on varroa mites?" --every weekly --docs notes '
        "--notify mail:you@example.org",
        'dossier watch add "Which mites resist amitraz?" --every "0 7 * * 1" --zone Europe/Berlin',
    ),
    "watch list": ("dossier watch list",),
    "watch show": ("dossier watch show mites",),
    "watch run": ("dossier watch run", "dossier watch run mites", "dossier watch run --everybody"),
    "watch loop": ("dossier watch loop",),
    "watch pause": ("dossier watch pause mites",),
    "watch resume": ("dossier watch resume mites",),
    "watch remove": ("dossier watch remove mites",),
    "search": ('dossier search "waggle dance" --in file --explain',),
    "recall": ('dossier recall "What did I read about bees?"',),
    "runs": ("dossier runs", "dossier runs --json"),
    "runs show": (
        "dossier runs show 20260101-a1b2c3-1",
        "dossier runs show 20260101-a1b2c3-1 --report",
        "dossier runs show 20260101-a1b2c3-1 --source 3",
        "dossier runs show 20260101-a1b2c3-1 --removed",
    ),
    "runs diff": ("dossier runs diff 20260101-a1b2c3-1 20260101-a1b2c3-2",),
    "diff": (
        "dossier diff 20260101-a1b2c3-1 20260101-a1b2c3-2",
        "dossier diff 20260101-a1b2c3-1 20260101-a1b2c3-2 --html changes.html",
    ),
    "runs prune": ("dossier runs prune --keep 90d",),
    "pages list": ("dossier pages list --kind file --limit 50",),
    "pages show": ("dossier pages show f23a9f3a8e44dda121b4234e",),
    "pages search": ('dossier pages search "waggle dance" --in notes',),
    "pages remove": (
        "dossier pages remove --origin notes",
        "dossier pages remove f23a9f3a8e44dda121b4234e",
    ),
    "pages forget": (
        "dossier pages forget --origin https://bees.example/dance --dry-run",
        "dossier pages forget f23a9f3a8e44dda121b4234e",
    ),
    "pages stats": ("dossier pages stats",),
    "mcp serve": (
        "dossier mcp serve --docs notes --set max_cost=0.5",
        "dossier mcp serve --http --port 8124",
    ),
    "memory list": ("dossier memory list --memory facts",),
    "memory show": ("dossier memory show 1f0c9a2b", "dossier memory show profile"),
    "memory search": ('dossier memory search "where I live"',),
    "memory add": (
        'dossier memory add "I keep bees in Bergen."',
        'dossier memory add "I prefer short answers." --category preference',
    ),
    "memory edit": ('dossier memory edit 1f0c9a2b "I keep bees in Oslo."',),
    "memory forget": (
        "dossier memory forget 1f0c9a2b --dry-run",
        "dossier memory forget 20260101-a1b2c3-1",
    ),
    "memory why": ("dossier memory why 20260101-a1b2c3-1",),
    "memory log": ("dossier memory log --limit 10",),
    "memory diff": ("dossier memory diff 42",),
    "memory undo": ("dossier memory undo 42", "dossier memory undo --run 20260101-a1b2c3-1"),
    "backup": ("dossier backup 2026-11-28.backup",),
    "restore": (
        "dossier restore --check 2026-11-28.backup",
        "dossier restore 2026-11-28.backup",
    ),
    "users limit": ("dossier users limit ada --cost-month 20", "dossier users limit ada"),
    "memory export": ("dossier memory export mine.json",),
    "memory import": ("dossier memory import mine.json --vouch",),
    "memory proposals": ("dossier memory proposals --project .",),
    "memory approve": ("dossier memory approve 3c1d",),
    "memory reject": ("dossier memory reject 3c1d",),
    "memory insights": ("dossier memory insights",),
    "memory graph": ("dossier memory graph --out experience.html",),
    "memory import-runs": ("dossier memory import-runs log.jsonl",),
    "eval retrieval": (
        "dossier eval retrieval --corpus corpus.jsonl --queries queries.jsonl --qrels test.tsv",
    ),
    "eval locomo": ("dossier eval locomo locomo10.json --limit 20",),
    "eval drb": (
        "dossier eval drb deep_research_bench --judge openai:gpt-4.1 --dry-run",
        "dossier eval drb deep_research_bench --reports raw_data/mine.jsonl --only race",
        "dossier eval drb deep_research_bench --language en --limit 5 --set max_cost=1",
    ),
    "eval report": (
        "dossier eval report 20260101-a1b2c3-1",
        "dossier eval report reports/20260101-a1b2c3-1/report.md 20260102-d4e5f6-1 --json",
    ),
    "verify": (
        "dossier verify 20260101-a1b2c3-1",
        "dossier verify reports/20260101-a1b2c3-1/report.html",
        "dossier verify their-report.md --docs sources --complete --json",
        "dossier verify their-report.md --docs sources --model openai:gpt-5-mini --max-cost 0.1",
    ),
    "serve": ("dossier serve", "dossier serve --port 8200 --jobs 64"),
    "trust": ("dossier trust .",),
    "settings import": ("dossier settings import .env",),
    "token": ("dossier token", "dossier token --renew"),
    "doctor": ("dossier doctor",),
}
"""How commands are called, by the words that name them."""

PLAN_EXAMPLE = """\
A plan for --plan, as dossier ask --review prints it:
  # How bees find food
  1. The waggle dance
     Who described it, and when.
     search: waggle dance discovery
     files only
  2. What the dance tells
     after: 1
"""


def render_epilog(command: str) -> str:
    """Return what stands below the options of a command; nothing where it only has commands.

    These are examples, below `ask` the choices that `--set` takes with what each may be, and below
    `resume` a plan as `--plan` takes it.
    """
    if command not in COMMAND_EXAMPLES:
        return ""
    # Typer leaves the lines of a paragraph as they are that begins with a backspace.
    examples = "\n".join(["\b", "Examples:", *(f"  {line}" for line in COMMAND_EXAMPLES[command])])
    if command == "ask":
        choices = (_line(one.name, one.metadata["description"]) for one in SETTABLE_CHOICES)
        return "\n".join([examples, "\n\b", "Choices for --set NAME=VALUE:", *choices])
    return f"{examples}\n\n\b\n{PLAN_EXAMPLE}" if command == "resume" else examples


def _line(name: str, says: str) -> str:
    head = f"  {name}={_takes(name)}"
    return textwrap.fill(f"{head:28} {says}", WIDTH, subsequent_indent=" " * 29)


def _takes(name: str) -> str:
    """Return what a choice may be: its bounds, its words, or its kind of value."""
    usual = getattr(Context(), name)
    if name in CHOICE_BOUNDS:
        least, most = CHOICE_BOUNDS[name]
        return f"{least:g}..{most:g}" if isinstance(usual, float) else f"{least}..{most}"
    if name in CHOICE_VALUES:
        return "|".join(CHOICE_VALUES[name])
    kinds = {bool: "true|false", list: '["A", "B"]', dict: '{"ROLE": "NAME"}'}
    return kinds.get(type(usual), "TEXT")
