"""A file of multiple choice in the shape of the CxNLI release, in words of this project: two frames of eight tests."""

from pathlib import Path

PLAIN = Path(__file__).with_name("reasoning_frames.tsv").read_text().replace("\n", "\r\n")
