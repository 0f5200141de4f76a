"""Every command: its help, its options, and the function that runs it, which is not imported."""

from __future__ import annotations

from app.cli import options
from app.cli.dispatch import CommandEntry

_SEARCH = CommandEntry(
    "Find the pages that answer a question best.",
    "search.search_command",
    (options.QUERY, options.NAMESPACE, options.limit(10), options.EXPLAIN, *options.PROJECT),
)

_DIFF = CommandEntry(
    "Show what the report of a run says otherwise than that of another one.\n\n"
    "They may be versions of one report, or reports of different conversations: sentences are "
    "compared word by word, wherever they stand, and sources, doubts and status as well. "
    "--html writes a page that shows the later report with what was added and removed.",
    "run_diff.show_differences",
    (options.RUN_BEFORE, options.RUN_AFTER, options.DIFF_PAGE, options.FORCE, *options.PROJECT),
)

COMMANDS = {
    "": CommandEntry(
        "Research a question over your files and the web, with every sentence traced to a source."
    ),
    "ask": CommandEntry(
        "Research a question and write a report.",
        "ask.ask_command",
        (
            options.QUESTION,
            options.DOCS,
            options.APPROVE_UNSEEN,
            options.REVIEW,
            options.QUICK,
            options.WEB,
            options.DEPTH,
            options.LENGTH,
            options.AGAIN,
            options.OUT,
            options.FORCE,
            options.THREAD,
            *options.TRUSTED,
            options.CHOICE,
            options.PROGRESS,
            options.JSON,
        ),
    ),
    "resume": CommandEntry(
        "Go on with a run that waits, was paused or killed, failed in part, or reached a limit.",
        "resume.resume",
        (
            options.RUN,
            options.APPROVE,
            options.REJECT,
            options.PLAN,
            options.AGAIN,
            options.ANSWER,
            options.OUT,
            options.FORCE,
            *options.TRUSTED,
            options.CAP,
            options.PROGRESS,
            options.JSON,
        ),
    ),
    "export": CommandEntry(
        "Write the report of a run as PDF, Word, EPUB, BibTeX or JSON with all its evidence.\n\n"
        "Without --format, the name of the file says which: md, html, pdf, docx, epub, json, bib, "
        "csl.json, zip for the tables as CSV, or csv for the only one.",
        "export_command.export_run",
        (
            options.RUN,
            options.FORMAT,
            options.EXPORT_STYLE,
            options.EXPORT_OUT,
            options.FORCE,
            *options.PROJECT,
        ),
    ),
    "diff": _DIFF,
    "feedback": CommandEntry(
        "Say that a run was good (up) or bad (down), or what was wrong with it.",
        "feedback.give_feedback",
        (options.RUN, options.VERDICT, *options.PROJECT),
    ),
    "serve": CommandEntry(
        "Start the LangGraph development server with this agent.",
        "serve.serve",
        (options.PORT, options.HOST, options.JOBS),
    ),
    "mcp": CommandEntry(
        "Serve other agents by the Model Context Protocol (MCP), or use the tools of their "
        "servers.\n\n"
        "Without a command, and with a program at the other end of standard input, it serves as "
        "dossier mcp serve does.",
        "mcp_serve.serve_if_piped",
    ),
    "mcp serve": CommandEntry(
        "Let editors and other agents search, read, recall and ask.\n\n"
        "It serves on standard input and output, or by HTTP. What you choose here holds for every "
        "run that a client asks for.",
        "mcp_serve.serve_mcp",
        (
            options.SERVED_DOCS,
            options.HTTP,
            options.MCP_PORT,
            options.PLAN_REVIEW,
            *options.TRUSTED,
            options.CHOICE,
        ),
    ),
    "token": CommandEntry(
        "Print the token that scripts send to the server.",
        "token.print_token",
        (options.RENEW, options.JSON),
    ),
    "users": CommandEntry("Say who may use the server, and give them tokens."),
    "users add": CommandEntry(
        "Add a user of the server.",
        "users.add_server_user",
        (
            options.USER_NAME,
            options.OPERATOR_ROLE,
            options.OWNS_LOCAL,
            options.RESTORE,
            options.JSON,
        ),
    ),
    "users list": CommandEntry(
        "List the users of the server, with the ids of their tokens.",
        "users.print_users",
        (options.JSON,),
    ),
    "users limit": CommandEntry(
        "Say how much the runs of a user may cost in a month, or show what is left.",
        "users.limit_user",
        (options.USER_NAME, options.COST_MONTH, options.JSON),
    ),
    "users token": CommandEntry(
        "Print a new token of a user; it is shown this once.\n\nA user may have several.",
        "users.print_new_token",
        (options.USER_NAME, options.TOKEN_LIFETIME, options.TOKEN_LABEL, options.JSON),
    ),
    "users revoke": CommandEntry(
        "Make a token, or all tokens of a user, invalid.",
        "users.revoke_token",
        (options.USER_OR_TOKEN, options.JSON),
    ),
    "users remove": CommandEntry(
        "Remove a user and their tokens; what they have stored stays.\n\n"
        "Nobody else gets their name: users add --restore lets them in again.",
        "users.remove_server_user",
        (options.USER_NAME, options.JSON),
    ),
    "trust": CommandEntry(
        "Trust a folder: its AGENTS.md is read with --project, and its .env may set time "
        "limits.\n\n"
        "Its mcp.json may name MCP servers, each of which you approve before it is started. "
        "No file in it can decide where prompts and keys are sent. To undo: dossier memory "
        "undo.",
        "folder_trust.trust_folder",
        (options.FOLDER,),
        folder_env=False,
    ),
    "doctor": CommandEntry(
        "Check this installation and say how to mend what is wrong.",
        "doctor.check_installation",
        (options.JSON,),
    ),
    "mcp list": CommandEntry(
        "List the servers of mcp.json, and what is known of their tools.",
        "mcp_servers.list_servers",
        options.PROJECT,
    ),
    "mcp test": CommandEntry(
        "Connect to a server, list its tools, and show what has changed since it was approved.",
        "mcp_servers.test_server",
        (options.SERVER, *options.PROJECT),
    ),
    "mcp approve": CommandEntry(
        "Show what a server says of its tools, and let runs use them so from now on.\n\n"
        "Servers in the mcp.json of your home are trusted when they are used first. Those of a "
        "project need this before they are started, and every server needs it for tools that are "
        "new or have changed.",
        "mcp_servers.approve_server",
        (options.SERVER, options.YES, *options.PROJECT),
    ),
    "runs": CommandEntry(
        "List the runs, show one, or delete old ones.", "runs.list_runs", options.PROJECT
    ),
    "runs show": CommandEntry(
        "Show every call of a run: role, step, tokens and time; or its report, or a source of it.",
        "runs.show_run",
        (options.RUN, options.WHOLE_REPORT, options.SOURCE, options.REMOVED, *options.PROJECT),
    ),
    "runs diff": _DIFF,
    "runs prune": CommandEntry(
        "Delete runs that ended long ago; what was learnt and reported stays.\n\n"
        "Their checkpoints, traces and recorded calls are deleted, so that they can be "
        "neither resumed nor asked further. Pages, facts, insights and the files of reports "
        "are kept, and so is every run that waits, was paused or is at work.",
        "prune.prune",
        (
            options.KEEP,
            options.KEEP_LAST,
            options.EVERYBODY,
            options.DRY_RUN,
            options.YES,
            *options.PROJECT,
        ),
    ),
    "ingest": CommandEntry(
        "Read folders, files or a chat into memory; what was read before is not read again.",
        "ingest_command.ingest_paths",
        (options.PATHS, options.CHAT, *options.TRUSTED, options.JSON),
    ),
    "watch": CommandEntry("Ask a question again on a schedule, and tell what is new."),
    "watch add": CommandEntry(
        "Watch a question: ask it again on a schedule, and tell whoever you name what is new.\n\n"
        "Something has to ask what is due: `dossier watch run` from cron, or `dossier watch loop`.",
        "watch.add_question_watch",
        (
            options.QUESTION,
            options.EVERY,
            options.ZONE,
            options.WATCH_NAME,
            options.NOTIFY,
            options.ALWAYS,
            options.DOCS,
            options.WEB,
            options.DEPTH,
            options.LENGTH,
            *options.TRUSTED,
            options.CHOICE,
            options.JSON,
        ),
    ),
    "watch list": CommandEntry(
        "List the watches, and when each is asked next.", "watch.print_watches", options.PROJECT
    ),
    "watch show": CommandEntry(
        "Show a watch, and what each time has found.",
        "watch.print_watch",
        (options.WATCH, options.limit(20), *options.PROJECT),
    ),
    "watch run": CommandEntry(
        "Ask what is due, once; cron calls this. A watch that is named is asked in any case.",
        "watch.run_watches",
        (options.DUE_WATCH, options.ALL_WATCHES, *options.PROJECT),
    ),
    "watch loop": CommandEntry(
        "Ask what is due, for everybody, until it is stopped.",
        "watch.run_loop",
        (options.JSON,),
    ),
    "watch pause": CommandEntry(
        "Ask a watch no more until it is resumed.",
        "watch.pause_watch",
        (options.WATCH, *options.PROJECT),
    ),
    "watch resume": CommandEntry(
        "Ask a paused watch again, from its next time on.",
        "watch.resume_watch",
        (options.WATCH, *options.PROJECT),
    ),
    "watch remove": CommandEntry(
        "Remove a watch and its history; its reports stay.",
        "watch.remove_question_watch",
        (options.WATCH, *options.PROJECT),
    ),
    "search": _SEARCH,
    "recall": CommandEntry(
        "Answer a question from what was read before.",
        "recall_command.recall",
        (options.QUESTION, options.NAMESPACE, options.WHOLE_PAGES, *options.TRUSTED, options.JSON),
    ),
    "pages": CommandEntry("List, show, search, remove, forget and count what was read."),
    "pages list": CommandEntry(
        "List the newest pages.",
        "pages.print_page_list",
        (options.KIND, options.NAMESPACE, options.limit(20), *options.PROJECT),
    ),
    "pages show": CommandEntry(
        "Show a page: where it is from, and what it says.",
        "pages.print_page",
        (options.PAGE, *options.PROJECT),
    ),
    "pages search": _SEARCH,
    "pages remove": CommandEntry(
        "Stop searching pages; nothing else changes, and memory undo brings them back.",
        "forget.remove_named_pages",
        (*options.PAGES, *options.PROJECT),
    ),
    "pages forget": CommandEntry(
        "Erase pages for good, and whatever says them again; remove only stops searching them.",
        "forget.forget_named_pages",
        (*options.PAGES, *options.FORGETTING, *options.PROJECT),
    ),
    "pages stats": CommandEntry(
        "Count the pages by kind, conversation and folder.",
        "pages.print_page_counts",
        options.PROJECT,
    ),
    "kb": CommandEntry("Name knowledge bases, read them in, and search them."),
    "kb add": CommandEntry(
        "Name a knowledge base, and read its documents in.\n\n"
        "A run that asks about what it is about searches it before its steps. PATH is a folder; "
        "URL a bucket, an archive or a service (docs/knowledge-bases.md).",
        "knowledge_bases.add_base",
        (
            options.BASE,
            options.BASE_LOCATION,
            options.BASE_ABOUT,
            options.BASE_KIND,
            options.BASE_OPTION,
            *options.PROJECT,
        ),
    ),
    "kb list": CommandEntry(
        "List the knowledge bases: yours, and the operator's.",
        "knowledge_bases.print_base_list",
        options.PROJECT,
    ),
    "kb show": CommandEntry(
        "Show a knowledge base, and how it stands.",
        "knowledge_bases.print_base",
        (options.BASE, *options.PROJECT),
    ),
    "kb refresh": CommandEntry(
        "Read what is new or has changed in knowledge bases; all of them without a name.",
        "knowledge_bases.refresh_bases",
        (options.BASES, *options.PROJECT),
    ),
    "kb remove": CommandEntry(
        "Take a knowledge base away, with everything that was read in of it.",
        "knowledge_bases.remove_named_base",
        (options.BASE, *options.PROJECT),
    ),
    "kb search": CommandEntry(
        "Search one knowledge base, and nothing else.",
        "knowledge_bases.search_base",
        (options.BASE, options.QUERY, options.limit(8), *options.PROJECT),
    ),
    "memory": CommandEntry("List, search, correct and forget what is remembered."),
    "memory proposals": CommandEntry(
        "Show what agents would change in AGENTS.md, as differences.",
        "memory_changes.print_proposals",
        (options.DECIDED, *options.PROJECT),
    ),
    "memory approve": CommandEntry(
        "Write proposed changes into the file, together with what was changed in it since.",
        "memory_changes.approve_proposals",
        (options.PROPOSALS, *options.PROJECT),
    ),
    "memory reject": CommandEntry(
        "Let proposed changes be.",
        "memory_changes.reject_proposals",
        (options.PROPOSALS, *options.PROJECT),
    ),
    "memory graph": CommandEntry(
        "Draw how past runs went, and what they teach, as a page.",
        "memory_transfer.write_experience_page",
        (options.GRAPH_FILE, options.FORCE, options.limit(300), *options.PROJECT),
    ),
    "memory insights": CommandEntry(
        "List what past runs teach, the best first.", "memory_items.print_insights", options.PROJECT
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
        (options.LOG_FILE, options.VOUCH_FOR_LOG, *options.PROJECT),
    ),
    "memory list": CommandEntry(
        "List what each memory keeps, the newest first.",
        "memory_items.print_item_list",
        (options.MEMORY, options.ENDED, options.limit(20), *options.PROJECT),
    ),
    "memory show": CommandEntry(
        "Show one thing whole: a fact, an insight, a page, a report, a file or the profile.",
        "memory_items.print_item",
        (options.ITEM, *options.PROJECT),
    ),
    "memory search": CommandEntry(
        "Find what fits some words, in every memory.",
        "memory_items.print_item_search",
        (options.QUERY, options.MEMORY, options.limit(5), *options.PROJECT),
    ),
    "memory add": CommandEntry(
        "Add a fact about yourself.",
        "memory_items.add_stated_fact",
        (options.TEXT, options.CATEGORY, *options.PROJECT),
    ),
    "memory edit": CommandEntry(
        "Let a fact or an insight say something else.",
        "memory_items.edit_item_text",
        (options.ITEM, options.TEXT, *options.PROJECT),
    ),
    "memory forget": CommandEntry(
        "Remove things for good, and what was quoted of them: no byte of it is left.",
        "forget.forget_items",
        (options.ITEMS, *options.FORGETTING, *options.PROJECT),
    ),
    "memory why": CommandEntry(
        "Show what the calls of a run were told, and why that was chosen.",
        "memory_items.print_recall_explanation",
        (options.RUN, *options.PROJECT),
    ),
    "memory log": CommandEntry(
        "List the changes of all memories, the newest first.",
        "memory_changes.print_event_list",
        (*options.EVENTS, options.limit(30), *options.PROJECT),
    ),
    "memory diff": CommandEntry(
        "Show what one event changed.",
        "memory_changes.print_event_diff",
        (options.EVENT, *options.PROJECT),
    ),
    "memory undo": CommandEntry(
        "Take back an event, or everything that a run has written.",
        "memory_changes.undo_changes",
        (*options.UNDONE, *options.PROJECT),
    ),
    "memory export": CommandEntry(
        "Write everything that is remembered to one JSON file.",
        "memory_transfer.export_to_file",
        (options.EXPORT_FILE, options.FORCE, *options.PROJECT),
    ),
    "memory import": CommandEntry(
        "Add what another home has exported; what is known already is left as it is.\n\n"
        "Without --vouch these are pages, and insights that nobody is told unless they are "
        "sentences of Dossier's own methods: a file may be anybody's, whatever it says of "
        "you.",
        "memory_transfer.import_from_file",
        (options.IMPORT_FILE, options.VOUCH_FOR_FILE, *options.PROJECT),
    ),
    "backup": CommandEntry(
        "Write everything that is stored into one file, while others may use it.\n\n"
        "It holds the rows of the database, SQLite or PostgreSQL, the checkpoints, the files, and "
        "the memory files, as they were at one moment. Settings and tokens are not in it: keep "
        "your .env elsewhere.",
        "backup_command.back_up",
        (options.BACKUP_FILE, options.FORCE, options.JSON),
    ),
    "restore": CommandEntry(
        "Restore a backup into an empty home and an empty database.\n\n"
        "All of it is verified, or nothing is restored. The database may be of the other kind "
        "than that of the backup.",
        "backup_command.restore",
        (options.RESTORED_FILE, options.CHECK_ONLY, options.JSON),
    ),
    "eval": CommandEntry("Measure on your own data."),
    "eval retrieval": CommandEntry(
        "Ask questions of a corpus and see whether the pages are found that answer them.",
        "eval_runs.run_retrieval_eval",
        (*options.DATA_SET, options.EMBEDDINGS, options.QUESTION_LIMIT, options.JSON),
    ),
    "eval locomo": CommandEntry(
        "Answer LoCoMo's questions from memory, and score the answers.",
        "eval_runs.run_locomo_eval",
        (options.LOCOMO_FILE, options.QUESTION_LIMIT, options.JSON),
    ),
    "eval drb": CommandEntry(
        "Score reports by DeepResearch Bench: RACE and FACT, with a judge of your choice.\n\n"
        "What it will cost is shown first. A stopped evaluation goes on when it is started again, "
        "and pays for nothing twice.",
        "benchmark_command.run_deep_research_bench",
        (*options.BENCHMARK, options.JSON),
    ),
    "eval report": CommandEntry(
        "Count what a report has: claims, sources, coverage, length. No judge is needed.",
        "report_figures_command.print_report_figures",
        (options.FIGURES_OF, *options.PROJECT),
    ),
    "verify": CommandEntry(
        "Check a report against its documents: citations, quotations, numbers, tables.\n\n"
        "It may be a report of Dossier or of any other system. The documents are those of --docs, "
        "and what is stored of the sources here. No model and no network is used, unless "
        "--support or --model asks for grades of every claim. The exit status is 1 when a check "
        "fails, or a claim is not supported, contradicted or not verified.",
        "verify_command.verify_command",
        (
            options.VERIFIED,
            options.VERIFIED_DOCS,
            options.COMPLETE,
            options.SUPPORT,
            options.SUPPORT_MODEL,
            options.SUPPORT_COST,
            *options.PROJECT,
        ),
    ),
    "settings": CommandEntry("Copy settings into the home."),
    "settings import": CommandEntry(
        "Copy the settings of a .env into the home, after showing them.\n\n"
        "Only the .env of the home is read, since a folder may be anybody's. Existing "
        "settings stay.",
        "folder_settings.import_settings",
        (options.ENV_FILE, options.YES),
        folder_env=False,
    ),
}
"""Every command by the words that call it, in the order of the help."""
