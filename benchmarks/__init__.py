"""One-off measurements; none of them is part of an installation."""
