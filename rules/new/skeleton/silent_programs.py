"""Programs that look like those in which «.Code» speaks, and in which it must be
silent."""
