"""Simple events, engines, complex events and signals, as the simple CEP engine's rules say it.

The numbers in comments are those of the rules (the article "Anatomy of a simple CEP engine").
"""

from cep.interpreter.events.engine import Arrived
from cep.interpreter.events.keys import KeySlots
from cep.interpreter.events.queue import Arrival, Queued
from cep.interpreter.events.running import RunningEvents

__all__ = ["Arrival", "Arrived", "KeySlots", "Queued", "RunningEvents"]
