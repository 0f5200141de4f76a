"""Forget for good: what was kept, and every string that says it again, wherever it is stored."""
