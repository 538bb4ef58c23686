"""cse557-now: rates by working set and the cost of an MPI message on a network of workstations (2000).

The machines are COCOA's server and nodes (dual Pentium II, Fast Ethernet) and melmak, a Sparc workstation. A message's
time is half of a round trip of MPI_Send and MPI_Recv; the study fits one line below 1,500 B and one from there on.
"""

from __future__ import annotations

from nameplate.records.study_record import Study
from nameplate.studies._conditions import conditions_table
from nameplate.studies._measured import StudyRun
from nameplate.studies._messages import message_charts, message_tables
from nameplate.studies._working_set import workset_chart, workset_table

_CONDITIONS = {"machine": "dual Pentium II and Sparc workstations, 2000", "nodes × processes": "12 × 1",
               "priority": "the highest"}  # fmt: skip


def make(measured: StudyRun) -> Study:
    """Return the tables and charts of the study "cse557-now" in the order of its document.

    ``measured`` must be a run of the plan "cse557-now". A value that the run lacks is None.
    """
    return Study([conditions_table(measured, _CONDITIONS), workset_table(measured), *message_tables(measured)],
                 [workset_chart(measured), *message_charts(measured)])  # fmt: skip
