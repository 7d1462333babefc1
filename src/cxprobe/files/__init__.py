"""Reading and writing files: YAML, tables, arrays, texts of users."""
