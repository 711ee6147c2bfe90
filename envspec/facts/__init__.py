"""Facts about drivers, toolkits, images and packages: data with a birth certificate.

Importing this package reads nothing; ask `envspec.facts.lookup`.
"""
