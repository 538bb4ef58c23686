"""Pure functions on arrays, one module for each method: for now what is found in a long series."""
