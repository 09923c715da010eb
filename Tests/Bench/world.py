"""A home of its own: a keyring on a private D-Bus, the sandbox, an installed lanyard, and git's own helper."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.request
import ssl

CHECKOUT = pathlib.Path(__file__).resolve().parents[2]
PEER_SOURCE = "/usr/share/doc/git/contrib/credential/libsecret/git-credential-libsecret.c"
USER = "alice@contoso.example"


class World:
    """Started by `with`, and gone with everything in it afterwards."""

    def __init__(self, binaries):
        self.binaries = pathlib.Path(binaries)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="lanyard-bench."))
        self.started = []
        self.environment = {
            "PATH": f"{self.folder}/bin:/usr/bin:/bin", "HOME": f"{self.folder}/home", "LANG": "C.UTF-8",
            "XDG_RUNTIME_DIR": f"{self.folder}/run", "XDG_DATA_HOME": f"{self.folder}/data",
            "XDG_CACHE_HOME": f"{self.folder}/cache", "XDG_CONFIG_HOME": f"{self.folder}/config",
            "GIT_CONFIG_NOSYSTEM": "1", "DBUS_SESSION_BUS_ADDRESS": f"unix:path={self.folder}/run/bus",
        }

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            stack.callback(self.stop)
            for name in ("bin", "home", "run", "data/keyrings", "cache", "config/lanyard"):
                (self.folder / name).mkdir(parents=True, mode=0o700)
            self.install()
            self.start("dbus-daemon", "--session", "--nofork", "--nopidfile",
                       f"--address=unix:path={self.folder}/run/bus")
            self.wait_for(self.folder / "run/bus")
            self.start_keyring()
            self.start_sandbox()
            self.peer = self.build_peer()
            stack.pop_all()
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        for process in reversed(self.started):
            if process.poll() is None:
                process.terminate()
                process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def install(self):
        """Installs lanyard as script/install does: what users run is what is measured, not what the linker left behind."""
        tree = self.folder / "tree"
        subprocess.run([CHECKOUT / "script/tree", self.binaries, tree], check=True)
        shutil.copy(CHECKOUT / "script/installer", tree / "install")
        subprocess.run([tree / "install", self.folder / "usr"], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        self.lanyard = str(self.folder / "usr/bin/lanyard")

    def build_peer(self):
        flags = subprocess.check_output(["pkg-config", "--cflags", "--libs", "libsecret-1"], text=True).split()
        peer = str(self.folder / "bin/git-credential-libsecret")
        subprocess.run(["gcc", "-O2", "-o", peer, PEER_SOURCE, *flags], check=True)
        return peer

    def fetch_docker_helper(self):
        """Gets docker's own helper for keyrings, and installs nothing; None if it can't be had."""
        package = "golang-docker-credential-helpers"
        folder = self.folder / "docker-helper"
        folder.mkdir()
        fetched = subprocess.run(["apt-get", "--quiet", "download", package], cwd=folder, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        if fetched.returncode != 0:
            return None
        for archive in folder.glob("*.deb"):
            subprocess.run(["dpkg-deb", "--extract", archive, folder], check=True)
        return str(folder / "usr/bin/docker-credential-secretservice")

    def start(self, *command):
        process = subprocess.Popen(
            command, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        self.started.append(process)
        return process

    def start_keyring(self):
        """Starts and unlocks the keyring service."""
        process = subprocess.Popen(
            ["gnome-keyring-daemon", "--foreground", "--unlock", "--components=secrets"], env=self.environment,
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        process.stdin.write(b"bench")
        process.stdin.close()
        self.started.append(process)
        self.keyring = process
        self.until(lambda: b"true" in self.bus_call("NameHasOwner", "string:org.freedesktop.secrets"))

    def restart_keyring(self, items):
        """Starts the keyring service anew, with so many passwords of other hosts in a keyring besides."""
        self.keyring.terminate()
        self.keyring.wait()
        self.started.remove(self.keyring)
        (self.folder / "data/keyrings/others.keyring").write_text(keyring_text(items))
        self.start_keyring()

    def bus_call(self, method, *arguments):
        return subprocess.run(
            ["dbus-send", "--session", "--print-reply", "--dest=org.freedesktop.DBus", "/org/freedesktop/DBus",
             f"org.freedesktop.DBus.{method}", *arguments], env=self.environment, capture_output=True).stdout

    def start_sandbox(self):
        folder = self.folder / "sandbox"
        self.start(str(self.folder / "usr/lib/lanyard/lanyard-sandbox"), "serve", "--directory", str(folder))
        self.wait_for(folder / "sandbox.json")
        self.sandbox = json.loads((folder / "sandbox.json").read_text())
        shutil.copy(folder / "config.toml", self.folder / "config/lanyard/config.toml")
        browser = f"{self.folder}/usr/lib/lanyard/lanyard-sandbox sign-in --ca {self.sandbox['ca_file']} --as {USER}"
        self.with_browser = self.environment | {"BROWSER": browser}

    @contextlib.contextmanager
    def agent(self, forward):
        """Runs the agent, and gives a forward's socket."""
        process = self.start(self.lanyard, "agent")
        socket = self.folder / "run/lanyard/agents" / forward
        self.wait_for(socket)
        yield socket
        process.terminate()
        process.wait()

    def control(self, method, name, body=None):
        """Asks the sandbox's control interface."""
        request = urllib.request.Request(
            f"{self.sandbox['authority']}/_sandbox/{name}", method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"X-Sandbox-Control": self.sandbox["control_token"], "Content-Type": "application/json"})
        context = ssl.create_default_context(cafile=self.sandbox["ca_file"])
        with urllib.request.urlopen(request, context=context, timeout=20) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def requests(self):
        """What the authority was asked since the log was cleared."""
        return [entry for entry in self.control("GET", "log") if entry["host"] == "authority"]

    def until_renewed(self):
        """Waits until no process of lanyard's renews anything."""
        self.until(lambda: not any(
            line.startswith(self.lanyard.encode()) and line.endswith(b"\0renew\0") for line in command_lines()))

    def run(self, program, *arguments, input="", environment=None):
        return subprocess.run(
            [program, *arguments], input=input, env=environment or self.environment, text=True, capture_output=True)

    def wait_for(self, path):
        self.until(lambda: path.exists())

    def until(self, condition):
        end = time.monotonic() + 30
        while not condition():
            if time.monotonic() > end:
                raise SystemExit("bench: error: the test world did not come up")
            time.sleep(0.02)


def command_lines():
    """The command lines of all processes that can be read."""
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            yield (process / "cmdline").read_bytes()


def keyring_text(items):
    """A keyring in gnome-keyring's plain text format, which it reads without being asked to unlock it."""
    lines = ["[keyring]", "display-name=Others", "ctime=1", "mtime=1", "lock-on-idle=false", "lock-after=false", ""]
    for number in range(1, items + 1):
        host = f"host{number}.example"
        lines += [f"[{number}]", "item-type=0", f"display-name=Git: https://{host}/", f"secret=password {number}",
                  "mtime=1", "ctime=1", ""]
        attributes = {"protocol": "https", "server": host, "user": "somebody", "xdg:schema": "org.gnome.keyring.NetworkPassword"}
        for index, (name, value) in enumerate(attributes.items()):
            lines += [f"[{number}:attribute{index}]", f"name={name}", "type=string", f"value={value}", ""]
    return "\n".join(lines)
