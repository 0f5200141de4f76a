"""From findings to a document that can be checked."""
