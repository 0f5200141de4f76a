"""Who sends a request to the server."""
