"""The one- and two-letter codes of the Itanium C++ ABI, and what each stands for."""

from __future__ import annotations

BUILTIN = {
    "v": "void", "w": "wchar_t", "b": "bool", "c": "char", "a": "signed char",
    "h": "unsigned char", "s": "short", "t": "unsigned short", "i": "int", "j": "unsigned int",
    "l": "long", "m": "unsigned long", "x": "long long", "y": "unsigned long long",
    "n": "__int128", "o": "unsigned __int128", "f": "float", "d": "double", "e": "long double",
    "g": "__float128", "z": "...",
}  # fmt: skip
STD = {
    "Sa": "std::allocator", "Sb": "std::basic_string", "Ss": "std::string",
    "Si": "std::basic_istream<char, std::char_traits<char> >",
    "So": "std::basic_ostream<char, std::char_traits<char> >",
    "Sd": "std::basic_iostream<char, std::char_traits<char> >",
}  # fmt: skip
OPERATORS = {
    "nw": " new", "dl": " delete", "eq": "==", "ne": "!=", "lt": "<", "gt": ">", "le": "<=",
    "ge": ">=", "ls": "<<", "rs": ">>", "pl": "+", "mi": "-", "ml": "*", "dv": "/", "rm": "%",
    "aS": "=", "pL": "+=", "mI": "-=", "mL": "*=", "dV": "/=", "cl": "()", "ix": "[]", "pt": "->",
    "nt": "!", "aa": "&&", "oo": "||", "an": "&", "or": "|", "eo": "^", "co": "~", "ng": "-",
    "de": "*", "ad": "&", "pp": "++", "mm": "--",
}  # fmt: skip
SPECIAL = {
    "TV": "vtable for ", "TT": "VTT for ", "TI": "typeinfo for ", "TS": "typeinfo name for ",
    "GV": "guard variable for ",
}  # fmt: skip
