"""Build the HTML report: one offline file with values, charts, tables and the data of its runs."""
