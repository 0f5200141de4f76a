"""Reports in further formats: PDF, Word, EPUB, BibTeX, CSL-JSON and a bundle with all evidence."""
