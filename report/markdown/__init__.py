"""The Markdown of a report: its blocks and marks, and what a model may not write."""
