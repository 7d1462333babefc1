"""The project in the working directory: params.yaml as a whole, presets, checks of all files, bundled files."""
