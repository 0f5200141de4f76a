"""Run Python that a model has written, apart from this machine: Docker, bubblewrap, or not at all."""
