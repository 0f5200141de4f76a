"""What a model or a run works with: files, the web, tables."""
