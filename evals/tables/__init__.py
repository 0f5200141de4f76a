"""Tables, and questions that need computing over them; see SOURCES.md."""
