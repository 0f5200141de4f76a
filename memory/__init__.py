"""What is known from earlier, and how it reaches a model call."""
