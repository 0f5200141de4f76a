"""How past runs went: what was said and done, how it ended, and what to do differently.

The three tiers of G-Memory (Zhang et al. 2025, arXiv 2506.07398), kept in the one database:
interactions (`utterances.py`), queries (`runs.py`) and insights (`insights.py`).
"""
