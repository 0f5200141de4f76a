"""The shape of the flow."""
