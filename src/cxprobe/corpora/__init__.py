"""Texts to mine: documents, tagging, patterns, candidates."""
