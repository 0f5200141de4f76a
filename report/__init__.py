"""From findings to a report whose every sentence was checked."""
