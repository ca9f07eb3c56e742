"""Translator of unmodified MQL5 into C++ that g++ compiles against the shim."""

from mt5bridge.emulator.translate.errors import SourceFile, TranslationError
from mt5bridge.emulator.translate.program import Translation, translate

__all__ = ["SourceFile", "Translation", "TranslationError", "translate"]
