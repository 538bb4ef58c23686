"""Write charts to files: pictures, and data with scripts for gnuplot."""
