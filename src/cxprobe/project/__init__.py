"""The project in the working directory: params.yaml as a whole, checks of all files, bundled files."""
