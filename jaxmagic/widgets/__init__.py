"""Live views, for what needs the kernel: controls, and what they show.

Nothing here measures. What has to be measured again is asked of the record, which may know how. A view is never the
only carrier of a result: the record's own report shows it without a kernel.
"""
