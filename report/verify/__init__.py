"""Check a report of any system against the documents that it cites, without a model."""
