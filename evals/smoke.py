"""Put one small question to whatever model the environment names, and print what each role said.

OPENAI_API_KEY=… make smoke
"""

from __future__ import annotations

import asyncio
import json
import secrets
import sys
from pathlib import Path

from sqlalchemy import select

from config.errors import Problem
from config.model_table import MODEL_ROLES
from config.settings import settings
from graph.context import Context
from graph.session import open_session
from models.chat_models import load_role_model
from runs.call_site import join_owner
from runs.tables import calls
from storage.engine import read_rows
from tools.folder_ingestion import ingest_folder

QUESTION = "What did Ebbinghaus measure?"


def main() -> int:
    """Run the question over the example folder; return the exit status."""
    try:
        return asyncio.run(_run())
    except Problem as problem:
        print(problem, file=sys.stderr)
        return problem.exit_status


async def _run() -> int:
    for role in MODEL_ROLES:
        model = await load_role_model(role, Context())
        print(f"{role:12} {(model.metadata or {})['model']}")
    thread = f"smoke-{secrets.token_hex(3)}"
    async with open_session(thread) as opened:
        docs = Path(__file__).parents[1] / "examples" / "docs"
        library = await ingest_folder(join_owner(settings().user, ""), docs, lambda _: None)
        context = Context(auto_accept=True, again="new", files=[library.root], max_steps=2)
        outcome = await opened.begin(QUESTION, context, lambda _: None)
        wanted = select(calls).where(calls.c.run == f"{thread}-1", calls.c.kind == "model")
        for row in await read_rows(wanted.order_by(calls.c.started)):
            reply = json.loads(row.result)[-1]["data"]
            said = reply["content"] or json.dumps(reply["tool_calls"], ensure_ascii=False)
            seconds = row.ended - row.started
            print(f"\n--- {row.role} {row.step} ({row.model}, {seconds:.1f} s)\n{said}")
    print(f"\n--- report ({outcome.state['status']})\n{outcome.state['messages'][-1].text}")
    return 0 if outcome.state["status"] == "succeeded" else 1


if __name__ == "__main__":
    sys.exit(main())
