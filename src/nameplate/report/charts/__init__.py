"""Build charts as Vega-Lite definitions and write them as picture files."""
