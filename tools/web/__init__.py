"""What fetching a page takes: its address, its bytes, its characters, its text."""
