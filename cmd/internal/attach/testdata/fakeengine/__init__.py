"""A small engine of two processes, for the tests of attach: an API process with asyncio, and a core behind ZMQ sockets.

It does not know about models: its tokens are the words of the question, said back.
"""
