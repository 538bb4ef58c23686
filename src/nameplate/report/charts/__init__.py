"""Charts as Vega-Lite definitions, and as picture files."""
