"""The documentation's generated parts and pictures (`python -m tests.docs`), and the tests of docs/ and the README."""
