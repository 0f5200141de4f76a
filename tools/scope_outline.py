"""Outline the documents that a run may use, for the prompts of its roles."""

from __future__ import annotations

import os

from graph.context import Context
from library.document_listing import DocumentScope
from library.document_outline import MAX_TOKENS, DocumentOutline, outline_documents
from library.scope import parse_scope
from library.uploaded_files import with_uploads
from prompts.data_blocks import render_block
from runs.call_site import CallSite
from tools.evidence import list_recalled_parts
from tools.web.provider_choice import is_keyless
from tools.web.query_redaction import note_shown


async def outline_scope(
    here: CallSite,
    context: Context,
    about: str,
    language: str = "en",
    max_tokens: int = MAX_TOKENS,
) -> DocumentOutline:
    """Return the outline of what a run searches before it plans.

    These are its files and the uploads of the thread, or else memory where no web is searched; and
    the web pages of which the thread was shown something.

    Args:
        here: The point of the run.
        context: The files and web searches of the run.
        about: What the documents are needed for; the question.
        language: The language of the outline's words, `en` or `zh`.
        max_tokens: The most tokens of it.
    """
    scope = await find_scope(here, context)
    outline = await outline_documents(here.owner, scope, about, max_tokens, language)
    note_shown(here, outline.text)
    return outline


async def find_scope(here: CallSite, context: Context) -> DocumentScope:
    """Return which documents an outline is of, as `outline_scope` says."""
    roots = await with_uploads(here.owner, here.thread, context.files)
    memory = None
    if not roots and (context.web in ("off", "unreachable") or is_keyless(context, os.environ)):
        memory = parse_scope(list_recalled_parts(context))
    return DocumentScope(list(dict.fromkeys(roots)), here.thread, memory)


def render_outline_block(outline: DocumentOutline) -> str:
    """Mark an outline for a model; nothing if there are no documents."""
    return render_block("outline", outline.text, languages=" ".join(outline.languages))
