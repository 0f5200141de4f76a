"""Run Python that a model has written where nothing of this machine can be reached."""
