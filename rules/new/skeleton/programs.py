"""Programs in which «.Code» speaks. The comment on a line says what is expected
there: want, «.Code», the severity, and what it keeps."""
