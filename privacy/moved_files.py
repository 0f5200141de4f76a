"""Let the rows of a backup name its files where they are after a restore."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping

from privacy.backup_files import list_place_addresses
from storage.backup_archive import BackupManifest, RowValues


def list_moves(manifest: BackupManifest) -> dict[str, str]:
    """Return, by where folders and files of a backup were, where they will be; none that stay."""
    now = list_place_addresses()
    moved = {old: now[name] for name, old in manifest.addresses.items() if old and name in now}
    # JSON in a row may write an address in another way.
    moved |= {_to_json(old): _to_json(new) for old, new in moved.items()}
    return {old: new for old, new in moved.items() if old != new}


def move_addresses(rows: Iterable[RowValues], moves: Mapping[str, str]) -> Iterator[RowValues]:
    """Yield rows with new addresses for old ones, wherever these stand in a text."""
    if not moves:
        yield from rows
        return
    longest_first = sorted(moves, key=len, reverse=True)
    # A path that only ends like an old one, or goes on with other letters, is another one.
    olds = "|".join(re.escape(one) for one in longest_first)
    pattern = re.compile(rf"(?<![\w.-])(?:{olds})(?![\w-]|\.\w)")
    for row in rows:
        yield [
            pattern.sub(lambda found: moves[found.group()], one) if isinstance(one, str) else one
            for one in row
        ]


def _to_json(text: str) -> str:
    return json.dumps(text)[1:-1]
