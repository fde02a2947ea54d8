"""Methods x light fields x factors under a named protocol: one record a run, and the paper's tables from the records.

`protocols` says how data are made and measured, `plan` what is run, `job` does one run in a process of its own,
`runner` does them all and resumes after a kill, `records` keeps what was measured, `published` holds the figures of
the paper, `tables` prints ours beside them.
"""

from __future__ import annotations
