"""The tasks: each is a package. `cxprobe.tasks.registry` lists them."""
