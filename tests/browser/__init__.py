"""Tests in a browser. A package, so that its server and its browser end with its last test: see conftest."""
