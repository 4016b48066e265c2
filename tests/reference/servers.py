"""Engines with processes of their own, each started once and stopped at the end.

`start` says why an engine cannot be had, so that a test can be skipped with that reason.
"""

import atexit
import contextlib
import functools
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SECONDS = 30


class Missing(Exception):
    """An engine that is not installed; says why."""


@functools.cache
def spark(more=()):
    """Start Spark with two executors, each a process of its own, and more settings."""
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        raise Missing("Spark needs Java 17 (Debian: openjdk-17-jre-headless)")
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise Missing("pyspark is not installed") from None
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    # a temporary SPARK_HOME/work would be left behind by the executors
    home = tempfile.mkdtemp()
    os.environ["SPARK_WORKER_DIR"] = home
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("calibrant")
    for name, value in {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "OFF",
        "spark.sql.shuffle.partitions": "2",
        **dict(more),
    }.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    atexit.register(session.stop)
    return session


@functools.cache
def dask():
    """Start Dask with two workers, each a process of its own."""
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise Missing("dask and distributed are not installed") from None
    cluster = LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
    )
    client = Client(cluster)
    atexit.register(cluster.close)
    atexit.register(client.close)
    return client


class Postgres:
    """A PostgreSQL of our own, on loopback, in a folder that is removed at the end.

    Attributes
    ----------
    user, password, port, url
        How its owner gets in.
    """

    user, password = "auditor", secrets.token_hex(8)

    def __init__(self):
        found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
        initdb = found[-1] if found else shutil.which("initdb")
        if initdb is None:
            raise Missing("PostgreSQL is not installed (Debian: postgresql)")
        try:
            import psycopg  # noqa: F401
        except ImportError:
            raise Missing("psycopg is not installed") from None
        self._bin = Path(initdb).parent
        self._home = Path(tempfile.mkdtemp())
        atexit.register(shutil.rmtree, self._home, ignore_errors=True)
        # it refuses to run as root
        self._who = {}
        if os.geteuid() == 0:
            owner = pwd.getpwnam("postgres")
            self._who = {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
            os.chown(self._home, owner.pw_uid, owner.pw_gid)
        self._environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "TZ": "UTC"}
        self._prepare()
        self.port = self._start()

    @property
    def url(self):
        return self.url_of(self.user, self.password)

    def url_of(self, user, password, database="postgres"):
        return f"postgresql+psycopg://{user}:{password}@127.0.0.1:{self.port}/{database}"

    def _prepare(self):
        word = self._home / "word"
        word.write_text(self.password)
        if self._who:
            os.chown(word, self._who["user"], self._who["group"])
        made = [self._bin / "initdb", "-D", self._home / "data", "-U", self.user]
        made += ["--pwfile", word, "-A", "scram-sha-256", "-E", "UTF8", "--locale=C.UTF-8"]
        subprocess.run(
            [*made, "--no-sync", "--no-instructions"],
            cwd=self._home,
            env=self._environment,
            check=True,
            capture_output=True,
            **self._who,
        )
        word.unlink()

    def _start(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        log = (self._home / "log").open("ab")
        settings = ["--listen_addresses=127.0.0.1", f"--port={port}", "--unix_socket_directories="]
        settings += ["--fsync=off", "--synchronous_commit=off", "--full_page_writes=off"]
        server = subprocess.Popen(
            [self._bin / "postgres", "-D", self._home / "data", *settings],
            cwd=self._home,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            **self._who,
        )
        log.close()
        atexit.register(self._stop, server)
        status = self._home / "data" / "postmaster.pid"
        until = time.monotonic() + SECONDS
        while time.monotonic() < until and server.poll() is None:
            with contextlib.suppress(OSError, IndexError):
                if status.read_text().splitlines()[7].strip() == "ready":
                    return port
            with contextlib.suppress(subprocess.TimeoutExpired):
                server.wait(0.05)
        raise Missing(f"PostgreSQL did not start: {(self._home / 'log').read_text()[-500:]}")

    @staticmethod
    def _stop(server):
        server.send_signal(signal.SIGINT)
        try:
            server.wait(SECONDS)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


@functools.cache
def postgres():
    """Start PostgreSQL."""
    return Postgres()
