"""What is kept between runs, and how it reaches a model call."""
