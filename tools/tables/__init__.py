"""Compute answers over tables: read the question, compute over the cells, and say how."""
