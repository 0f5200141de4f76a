"""The services that search the web: one protocol, one file for each."""
