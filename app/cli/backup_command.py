"""dossier backup, restore: everything that is stored as one file, and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from app.cli.dispatch import Invocation
from app.cli.output import print_notice
from privacy.backup import write_backup
from privacy.restore import check_backup, restore_backup
from storage.backup_archive import BackupManifest
from text.pluralization import pluralize


async def back_up(*, file: Path, force: bool, invocation: Invocation) -> None:
    """Write everything that is stored into one file."""
    written = await write_backup(file, force=force)
    for key in written.left_out:
        print_notice(f"left out of mcp.json, set it again after a restore: {key}")
    path = str(file)
    data = {"file": path, "bytes": written.size, **_counts(written.manifest)}
    line = f"{_summary(written.manifest)}; {written.size / 1e6:,.1f} MB: {path}"
    invocation.print_result(data | {"left_out": written.left_out}, line)


async def restore(*, file: Path, check: bool, invocation: Invocation) -> None:
    """Restore a backup into this home, or only check it."""
    manifest = await (check_backup(file) if check else restore_backup(file))
    begins = "It is whole" if check else "Restored"
    line = f"{begins}: {_summary(manifest)}."
    invocation.print_result({"restored": not check, **_counts(manifest)}, line)


def _counts(manifest: BackupManifest) -> dict[str, Any]:
    tables = [*manifest.tables, *manifest.checkpoints]
    counts = {"rows": sum(one.rows for one in tables), "files": len(manifest.files)}
    return {"created": manifest.created, "database": manifest.database, **counts}


def _summary(manifest: BackupManifest) -> str:
    counts = _counts(manifest)
    return f"{pluralize(counts['rows'], 'row')}, {pluralize(counts['files'], 'file')}"
