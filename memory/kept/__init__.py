"""What every memory keeps, as people see it: listed, shown, searched, traced, taken back."""
