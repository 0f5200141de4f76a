"""The dossier command."""
