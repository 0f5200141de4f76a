"""Every word said to a model."""
