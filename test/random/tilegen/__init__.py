"""Random programs of the tile language: drawn, run, judged, shrunk. See test/random/README.md."""
