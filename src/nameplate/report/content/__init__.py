"""Turn a run, a comparison or a judgement into sentences and table rows, independent of how they are displayed."""
