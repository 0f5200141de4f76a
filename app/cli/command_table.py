"""Every command: its help, its options, and the function that runs it, which is not imported."""

from __future__ import annotations

from app.cli import options
from app.cli.dispatch import CommandEntry, option
from config.environment import ENV_FILE_NAME

JSON = option("as_json", options.JsonOption, False)

PROJECT = (option("project", options.ProjectOption, ""),)
"""With `JSON`, this is given to a function as its `invocation`."""

TRUSTED_PROJECT = (*PROJECT, option("trust", options.TrustOption, False))
"""The project of a command that reads the memory files of a folder: a person is asked first."""

_SEARCH = CommandEntry(
    "Find the pages that answer a question best.",
    "search.search_command",
    (
        option("query", options.QueryArgument),
        option("within", options.NamespaceOption, ""),
        option("limit", options.LimitOption, 10),
        option("explain", options.ExplainOption, False),
        *PROJECT,
        JSON,
    ),
)

COMMANDS = {
    "": CommandEntry(
        "Research a question over your files and the web, with every sentence traced to a source."
    ),
    "ask": CommandEntry(
        "Research a question and write a report.",
        "ask.ask_command",
        (
            option("question", options.QuestionArgument, ""),
            option("docs", options.DocsOption, None),
            option("yes", options.ApproveUnseenOption, False),
            option("review", options.ReviewOption, False),
            option("quick", options.QuickOption, False),
            option("out", options.OutOption, None),
            option("force", options.ForceOption, False),
            option("thread", options.ThreadOption, None),
            *TRUSTED_PROJECT,
            option("choice", options.ChoiceOption, None),
            JSON,
        ),
    ),
    "resume": CommandEntry(
        "Go on with a run that waits, was paused or killed, failed in part, or reached a limit.",
        "resume.resume",
        (
            option("run", options.RunArgument),
            option("approve", options.ApproveOption, False),
            option("reject", options.RejectOption, None),
            option("plan", options.PlanOption, None),
            option("out", options.OutOption, None),
            option("force", options.ForceOption, False),
            *TRUSTED_PROJECT,
            option("cap", options.CapOption, None),
            JSON,
        ),
    ),
    "feedback": CommandEntry(
        "Say that a run was good (up) or bad (down), or what was wrong with it.",
        "feedback.give_feedback",
        (
            option("run", options.RunArgument),
            option("words", options.VerdictArgument),
            *PROJECT,
            JSON,
        ),
    ),
    "serve": CommandEntry(
        "Start the LangGraph development server with this agent.",
        "serve.serve",
        (
            option("port", options.PortOption, 8123),
            option("host", options.HostOption, "127.0.0.1"),
            option("jobs", options.JobsOption, 32),
        ),
    ),
    "token": CommandEntry(
        "Print the token that scripts send to the server.",
        "token.print_token",
        (option("renew", options.RenewOption, False), JSON),
    ),
    "trust": CommandEntry(
        "Trust a folder: its AGENTS.md is read with --project, and its .env may set time "
        "limits.\n\n"
        "No file in it can decide where prompts and keys are sent. To undo: dossier memory "
        "undo.",
        "folder_trust.trust_folder",
        (option("folder", options.FolderArgument, "."),),
        folder_env=False,
    ),
    "doctor": CommandEntry(
        "Check this installation and say how to mend what is wrong.",
        "doctor.check_installation",
        (JSON,),
    ),
    "runs": CommandEntry(
        "List the runs, show one, or delete old ones.", "runs.list_runs", (*PROJECT, JSON)
    ),
    "runs show": CommandEntry(
        "Show every call of a run: role, step, tokens and time.",
        "runs.show_run",
        (
            option("run", options.RunArgument),
            option("removed", options.ShowRemovedOption, False),
            *PROJECT,
            JSON,
        ),
    ),
    "runs prune": CommandEntry(
        "Delete runs that ended long ago; what was learnt and reported stays.\n\n"
        "Their checkpoints, traces and recorded calls are deleted, so that they can be "
        "neither resumed nor asked further. Pages, facts, insights and the files of reports "
        "are kept, and so is every run that waits, was paused or is at work.",
        "prune.prune",
        (
            option("keep", options.KeepOption, "90d"),
            option("yes", options.SkipConfirmationOption, False),
            *PROJECT,
            JSON,
        ),
    ),
    "ingest": CommandEntry(
        "Read folders, files or a chat into memory; what was read before is not read again.",
        "ingest_command.ingest_paths",
        (
            option("paths", options.PathsArgument, None),
            option("chat", options.ChatOption, None),
            *TRUSTED_PROJECT,
            JSON,
        ),
    ),
    "search": _SEARCH,
    "recall": CommandEntry(
        "Answer a question from what was read before.",
        "recall_command.recall",
        (
            option("question", options.QuestionArgument, ""),
            option("within", options.NamespaceOption, ""),
            option("pages", options.WholePagesOption, False),
            *TRUSTED_PROJECT,
            JSON,
        ),
    ),
    "pages": CommandEntry("List, show, search, remove, forget and count what was read."),
    "pages list": CommandEntry(
        "List the newest pages.",
        "pages.print_page_list",
        (
            option("kind", options.KindOption, ""),
            option("within", options.NamespaceOption, ""),
            option("limit", options.LimitOption, 20),
            *PROJECT,
            JSON,
        ),
    ),
    "pages show": CommandEntry(
        "Show a page: where it is from, and what it says.",
        "pages.print_page",
        (option("page", options.PageArgument), *PROJECT, JSON),
    ),
    "pages search": _SEARCH,
    "pages remove": CommandEntry(
        "Stop searching pages; nothing else changes, and memory undo brings them back.",
        "forget.remove_named_pages",
        (
            option("ids", options.PagesArgument, None),
            option("origin", options.OriginOption, ""),
            *PROJECT,
            JSON,
        ),
    ),
    "pages forget": CommandEntry(
        "Erase pages for good, and whatever says them again; remove only stops searching them.",
        "forget.forget_named_pages",
        (
            option("ids", options.PagesArgument, None),
            option("origin", options.OriginOption, ""),
            option("yes", options.SkipConfirmationOption, False),
            option("dry_run", options.DryRunOption, False),
            option("copies", options.IncludeCopiesOption, False),
            *PROJECT,
            JSON,
        ),
    ),
    "pages stats": CommandEntry(
        "Count the pages by kind, conversation and folder.",
        "pages.print_page_counts",
        (*PROJECT, JSON),
    ),
    "memory": CommandEntry("List, search, correct and forget what is remembered."),
    "memory proposals": CommandEntry(
        "Show what agents would change in AGENTS.md, as differences.",
        "memory_changes.print_proposals",
        (option("every", options.IncludeDecidedOption, False), *PROJECT, JSON),
    ),
    "memory approve": CommandEntry(
        "Write proposed changes into the file, together with what was changed in it since.",
        "memory_changes.approve_proposals",
        (option("ids", options.ProposalsArgument), *PROJECT, JSON),
    ),
    "memory reject": CommandEntry(
        "Let proposed changes be.",
        "memory_changes.reject_proposals",
        (option("ids", options.ProposalsArgument), *PROJECT, JSON),
    ),
    "memory graph": CommandEntry(
        "Draw how past runs went, and what they teach, as a page.",
        "memory_transfer.write_experience_page",
        (
            option("out", options.GraphFileOption, "experience.html"),
            option("force", options.ForceOption, False),
            option("limit", options.LimitOption, 300),
            *PROJECT,
            JSON,
        ),
    ),
    "memory insights": CommandEntry(
        "List what past runs teach, the best first.",
        "memory_items.print_insights",
        (*PROJECT, JSON),
    ),
    "memory import-runs": CommandEntry(
        "Learn from a log of what agents did, one run as JSON on a line.\n\n"
        '{"question": "…", "result": "resolved" | "partial" | "failed", "steps": [{"who": '
        '"planner", "action": "…", "observation": "…", "step": "s1", "builds_on": [1]}], '
        '"insights": [{"content": "…", "roles": ["planner"]}], "reason": "…", "run": "…"}; '
        "all but question and result may be left out. `builds_on` names earlier steps by "
        "their places, from 1. Insights are told to later runs if they are sentences of "
        "Dossier's own methods, or with --vouch.",
        "memory_transfer.import_run_logs",
        (
            option("file", options.LogFileArgument),
            option("vouch", options.VouchForLogOption, False),
            *PROJECT,
            JSON,
        ),
    ),
    "memory list": CommandEntry(
        "List what each memory keeps, the newest first.",
        "memory_items.print_item_list",
        (
            option("memory", options.MemoryFilterOption, ""),
            option("every", options.IncludeEndedOption, False),
            option("limit", options.LimitOption, 20),
            *PROJECT,
            JSON,
        ),
    ),
    "memory show": CommandEntry(
        "Show one thing whole: a fact, an insight, a page, a report, a file or the profile.",
        "memory_items.print_item",
        (option("id", options.ItemArgument), *PROJECT, JSON),
    ),
    "memory search": CommandEntry(
        "Find what fits some words, in every memory.",
        "memory_items.print_item_search",
        (
            option("query", options.QueryArgument),
            option("memory", options.MemoryFilterOption, ""),
            option("limit", options.LimitOption, 5),
            *PROJECT,
            JSON,
        ),
    ),
    "memory add": CommandEntry(
        "Add a fact about yourself.",
        "memory_items.add_stated_fact",
        (
            option("text", options.TextArgument),
            option("category", options.CategoryOption, ""),
            *PROJECT,
            JSON,
        ),
    ),
    "memory edit": CommandEntry(
        "Let a fact or an insight say something else.",
        "memory_items.edit_item_text",
        (option("id", options.ItemArgument), option("text", options.TextArgument), *PROJECT, JSON),
    ),
    "memory forget": CommandEntry(
        "Remove things for good, and what was quoted of them: no byte of it is left.",
        "forget.forget_items",
        (
            option("ids", options.ItemsArgument),
            option("yes", options.SkipConfirmationOption, False),
            option("dry_run", options.DryRunOption, False),
            option("copies", options.IncludeCopiesOption, False),
            *PROJECT,
            JSON,
        ),
    ),
    "memory why": CommandEntry(
        "Show what the calls of a run were told, and why that was chosen.",
        "memory_items.print_reminders",
        (option("run", options.RunArgument), *PROJECT, JSON),
    ),
    "memory log": CommandEntry(
        "List the changes of all memories, the newest first.",
        "memory_changes.print_event_list",
        (
            option("run", options.RunFilterOption, ""),
            option("item", options.ItemFilterOption, ""),
            option("limit", options.LimitOption, 30),
            *PROJECT,
            JSON,
        ),
    ),
    "memory diff": CommandEntry(
        "Show what one event changed.",
        "memory_changes.print_event_diff",
        (option("event", options.EventArgument), *PROJECT, JSON),
    ),
    "memory undo": CommandEntry(
        "Take back an event, or everything that a run has written.",
        "memory_changes.undo_changes",
        (
            option("event", options.OptionalEventArgument, None),
            option("run", options.UndoRunOption, ""),
            *PROJECT,
            JSON,
        ),
    ),
    "memory export": CommandEntry(
        "Write everything that is remembered to one JSON file.",
        "memory_transfer.export_to_file",
        (
            option("file", options.ExportFileArgument, None),
            option("force", options.ForceOption, False),
            *PROJECT,
            JSON,
        ),
    ),
    "memory import": CommandEntry(
        "Add what another home has exported; what is known already is left as it is.\n\n"
        "Without --vouch these are pages, and insights that nobody is told unless they are "
        "sentences of Dossier's own methods: a file may be anybody's, whatever it says of "
        "you.",
        "memory_transfer.import_from_file",
        (
            option("file", options.ImportFileArgument),
            option("vouch", options.VouchForFileOption, False),
            *PROJECT,
            JSON,
        ),
    ),
    "eval": CommandEntry("Measure on your own data."),
    "eval retrieval": CommandEntry(
        "Ask questions of a corpus and see whether the pages are found that answer them.",
        "eval_runs.run_retrieval_eval",
        (
            option("corpus", options.CorpusOption),
            option("queries", options.QueriesOption),
            option("qrels", options.QrelsOption, None),
            option("group_field", options.GroupFieldOption, None),
            option("embeddings", options.EmbeddingsOption, ""),
            option("limit", options.QuestionLimitOption, None),
            JSON,
        ),
    ),
    "eval locomo": CommandEntry(
        "Answer LoCoMo's questions from memory, and score the answers.",
        "eval_runs.run_locomo_eval",
        (
            option("file", options.LocomoFileArgument),
            option("limit", options.QuestionLimitOption, None),
            JSON,
        ),
    ),
    "settings": CommandEntry("Copy settings into the home."),
    "settings import": CommandEntry(
        "Copy the settings of a .env into the home, after showing them.\n\n"
        "Only the .env of the home is read, since a folder may be anybody's. Existing "
        "settings stay.",
        "folder_settings.import_settings",
        (
            option("file", options.EnvFileArgument, ENV_FILE_NAME),
            option("yes", options.SkipConfirmationOption, False),
        ),
        folder_env=False,
    ),
}
"""Every command by the words that call it, in the order of the help."""
