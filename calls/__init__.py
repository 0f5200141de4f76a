"""Ask a model: the two ways to it, and the middleware stack around every call."""
