"""The credential of the tests: servers let it in, and terminals and clients have it."""

from __future__ import annotations

from mt5bridge.credential import Credential

CREDENTIAL = Credential("tester", "a-secret-of-the-tests")
PASSWORDS = {CREDENTIAL.user: CREDENTIAL.password}
