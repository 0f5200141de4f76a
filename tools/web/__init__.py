"""Search the web, and fetch pages as text; nothing else opens addresses from outside."""
