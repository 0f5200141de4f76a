"""Words, sentences, tokens, dates, passages, ranking: pure functions, no framework, no database."""
