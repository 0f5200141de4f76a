"""The flow: its state and choices, how the nodes are wired, how a run is driven."""
