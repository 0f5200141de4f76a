"""Finding text; no agent framework here."""
