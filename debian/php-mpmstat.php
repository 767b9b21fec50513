mod debian/mpmstat.ini
