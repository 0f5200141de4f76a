"""How past runs went: the three tiers of G-Memory (Zhang et al.

2025, arXiv 2506.07398), interactions (`utterances.py`), queries (`run_history.py`) and insights
(`insights.py`), in the one database.
"""
