"""What a person says is read for what should be known of them: facts and a profile."""
