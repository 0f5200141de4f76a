"""The console: pages for people who use a server without a terminal."""
