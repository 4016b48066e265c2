"""Wire: counts the bytes that pass between a client and a server."""

import socket
import threading


class Wire:
    """A port on loopback that hands everything on to another one, and counts it.

    Attributes
    ----------
    port : int
        Where to connect instead.
    sent, received : int
        Bytes from the client to the server, and back.
    """

    def __init__(self, port):
        self._behind, self.sent, self.received = port, 0, 0
        self._door = socket.create_server(("127.0.0.1", 0))
        self.port = self._door.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            client, _ = self._door.accept()
            server = socket.create_connection(("127.0.0.1", self._behind))
            for ends in ((client, server, "sent"), (server, client, "received")):
                threading.Thread(target=self._pass, args=ends, daemon=True).start()

    def _pass(self, source, target, name):
        try:
            while some := source.recv(1 << 16):
                setattr(self, name, getattr(self, name) + len(some))
                target.sendall(some)
        except OSError:  # one of them has gone
            pass
        finally:
            for end in (source, target):
                end.close()
