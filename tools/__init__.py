"""Hands: what a model may call."""
