"""Native extensions in a lock: which release, what it requires, what its build imports.

`prepare` comes before the resolution of the packages and `lock_extensions` after it. No code of an
extension runs in between: what it requires is read from the files of its source archive.
"""
