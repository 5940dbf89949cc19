"""Work on files from outside in a separate process, whose memory and time are bounded.

A library that reads such a file may end its process, or take all memory. The separate process is Python
with a function of this package: `launch` starts it and says why it ended, `inside` is what runs in it,
and `service` keeps it running for many requests.
"""
