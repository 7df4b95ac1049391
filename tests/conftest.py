"""What every test and every program that a test starts can count on."""

import signal

# A job in the background ignores Ctrl-C, and so would all that it starts; some tests send it and wait for what it does.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
