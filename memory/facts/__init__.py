"""What is known of a person: facts with where they are from, ranked by what is talked about."""
