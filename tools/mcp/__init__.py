"""Tools of MCP servers: which servers there are, their definitions, and calls of them."""
