"""Frames for minimal pairs that a model writes and a person proof-reads.

`FrameWriter` asks a model for frames of a construction's pairs.yaml, checks each against the frames that are there,
asks whether it is a good one, and writes those that are kept as YAML. Every rejected frame is recorded with its reason.
How a model is asked is given to it as a function.
"""

from cxprobe.make.frames.writing import Exchange, FrameWriter, Written

__all__ = ["Exchange", "FrameWriter", "Written"]
