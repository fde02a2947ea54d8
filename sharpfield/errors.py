"""Every error that a person can meet; each message says what is wrong with which input, and what to do.

The command line prints the message on one line and ends with the error's exit status: 2 when the thing was
asked for wrongly, 1 when it was asked for well and failed.
"""

from __future__ import annotations


class SharpfieldError(Exception):
    """Base of all errors that sharpfield raises on purpose."""

    exit_status = 1


class InputError(SharpfieldError, ValueError):
    """The data given cannot be used: missing, truncated, of mixed sizes, not a light field."""


class OutputError(SharpfieldError):
    """The result cannot be stored: the place exists already, is not writable, or the disk is full."""


class OptionError(SharpfieldError, ValueError):
    """Something was asked for that has no meaning: a factor of 2.5, a reversed range."""

    exit_status = 2
