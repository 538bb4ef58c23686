"""Build the charts of a report as Vega-Lite definitions; ``report.chart_files`` writes them to files."""
