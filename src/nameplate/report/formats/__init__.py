"""Write the parts of file formats that several exports share, and find the modules of formats by their names."""
