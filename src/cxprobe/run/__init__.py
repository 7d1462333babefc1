"""What happens around the work of a stage: parameters, files, tracking."""
