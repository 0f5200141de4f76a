"""A document as Markdown and as a page of HTML, with numbered sources."""
