"""Media: records to text, HTML and data frames.

The law of this room: what is drawn depends on the record and the style alone. Each medium is one file that
handles every kind of record; a display never raises and needs no kernel; whatever came from the user is escaped.
"""
