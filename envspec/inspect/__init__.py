"""What compiled files say of themselves, read and never run.

`elf` and `fatbin` read one file, `demangle` names a symbol, `package` reads an installed prefix or
a wheel, `index` keeps what was read, and `judge` compares the libraries of a set. All input is
hostile: every offset is bounded, and the only exceptions are `UnreadableError` and `OSError`.
"""
