"""Measures lanyard against git-credential-libsecret and others; script/bench runs it."""

import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import time

from world import World

PASSWORD = "protocol=https\nhost=example.com\nusername=somebody\n"
MISSING = "protocol=https\nhost=nothing.example.com\n"
ROWS = ["cached", "due", "agent", "token", "password", "miss", "store", "memory", "tools", "renewal", "calls",
        "stampede", "growth", "sealed", "size"]
MANY = 64
# What clusters' certificates are as long as.
CERTIFICATE = "QUJD" * 500


class Bench:
    """The rows, each of which prints its lines of the table."""

    def __init__(self, world, runs, az, msal):
        self.world = world
        self.runs = runs
        self.az = az
        self.msal = msal
        self.failed = False
        resource = world.sandbox["resource"]
        self.token = self.file("token", f"url={resource}/contoso/hello.git\n")
        self.password = self.file("password", PASSWORD)
        world.run(world.peer, "store", input=PASSWORD + "password=correct horse\n")
        self.missing = self.file("missing", MISSING)
        self.sign_in()
        self.uncached = world.environment | {"LANYARD_ANSWER_CACHE": "0"}

    def file(self, name, text):
        path = self.world.folder / name
        path.write_text(text)
        return path

    def sign_in(self):
        world = self.world
        for environment in (world.with_browser, world.environment):
            answer = world.run(world.lanyard, "get", input=self.token.read_text(), environment=environment)
            if "password=" not in answer.stdout:
                raise SystemExit(f"bench: error: nobody signed in: {answer.stderr}")

    # --- Measuring

    def pairs(self, *what, verb="get", before=None):
        """Median milliseconds of each of the (program, request, environment), run in turn; arguments may follow.

        `before` is called before each run.
        """
        times = [[] for _ in what]
        for number in range(self.runs + 3):
            for index, (program, request, environment, *arguments) in enumerate(what):
                if before:
                    before()
                elapsed = milliseconds(program, request, environment, *(arguments or [verb]))
                if number >= 3:
                    times[index].append(elapsed)
        return [statistics.median(one) for one in times]

    def row(self, figure, measured, limit, fine, lanyard="", peer=""):
        self.failed = self.failed or not fine
        verdict = "" if limit == "" else "ok" if fine else "over"
        print(f"| {figure} | {lanyard} | {peer} | {measured} | {limit} | {verdict} |", flush=True)

    def compare(self, figure, ours, theirs, limit=None, before=None):
        """A row of two programs, each as `pairs` takes them; without a limit it only tells."""
        ours, theirs = self.pairs(ours, theirs, before=before)
        ratio = ours / theirs
        self.row(figure, f"{ratio:.2f}", "" if limit is None else f"≤ {limit}", limit is None or ratio <= limit,
                 f"{ours:.1f} ms", f"{theirs:.1f} ms")

    def ratio(self, figure, request, environment, limit, theirs=None, verb="get"):
        world = self.world
        ours, theirs = self.pairs(
            (world.lanyard, request, environment), (world.peer, theirs or self.password, world.environment), verb=verb)
        self.row(figure, f"{ours / theirs:.2f}", f"≤ {limit}", ours / theirs <= limit, f"{ours:.1f} ms",
                 f"{theirs:.1f} ms")

    # --- Rows

    def cached(self):
        self.ratio("cached token", self.token, self.world.environment, 0.35)

    def due(self):
        """What git waits for a token in its last quarter: only where no process may be left behind, none renews it."""
        world = self.world
        world.control("POST", "settings", {"refresh_in": 0})
        world.run(world.lanyard, "logout", "--all")
        self.sign_in()
        # It stays the same, however often it is renewed.
        world.control("POST", "faults", {"path": "/token", "status": 400, "body": "{}"})
        due = (world.lanyard, self.token, world.environment)
        plain = (world.lanyard, self.token, world.environment | {"CI": "true"})
        self.compare("token in its last quarter, against a cached one", due, plain, 1.1, world.until_renewed)

        def anew():
            world.until_renewed()
            shutil.rmtree(world.folder / "run/lanyard/notes", ignore_errors=True)
        self.compare("the same, starting its renewal, once a minute", due, plain, 1.5, anew)
        world.until_renewed()
        world.control("DELETE", "faults")
        world.control("POST", "settings", {"refresh_in": None})
        world.run(world.lanyard, "logout", "--all")
        self.sign_in()

    def agent(self):
        """What a far side waits for a remembered token: its own lanyard, and the agent beside it."""
        world = self.world
        url = self.token.read_text().strip().removeprefix("url=")
        world.run(world.lanyard, "forward", "add", "bench", url)
        self.sign_in()
        with world.agent("bench") as socket:
            far = world.environment | {"LANYARD_AGENT": str(socket)}
            self.compare("cached token through the agent, against one without", (world.lanyard, self.token, far),
                         (world.lanyard, self.token, world.environment), 1.5)
        world.run(world.lanyard, "forward", "remove", "bench")
        self.sign_in()

    def renewal(self):
        """A renewal as a whole process, from what is stored to the token."""
        world = self.world
        if not self.msal:
            print("bench: MSAL for Python can't be fetched: not compared", file=sys.stderr)
            return
        world.control("POST", "settings", {"access_token_lifetime": 200})
        world.run(world.lanyard, "logout", "--all")
        self.sign_in()
        sandbox = world.sandbox
        script = str(pathlib.Path(__file__).with_name("msal_renewal.py"))
        # The binding of libsecret is the system's.
        environment = world.environment | {"PYTHONPATH": "/usr/lib/python3/dist-packages"}
        # MSAL files an authority's tokens without its port.
        host = sandbox["authority"].removeprefix("https://")
        cache = world.run(world.lanyard, "export").stdout.replace(host, host.split(":")[0])
        subprocess.run([self.msal, script, "--fill", str(world.folder)], env=environment, check=True, text=True,
                       input=cache)
        theirs = (self.msal, os.devnull, environment, script, f"{sandbox['authority']}/contoso.example",
                  sandbox["client_id"], "api://sandbox-git/.default", sandbox["ca_file"], str(world.folder))
        self.compare("renewal, against MSAL for Python's", (world.lanyard, self.token, world.environment), theirs, 0.30)
        world.control("POST", "settings", {"access_token_lifetime": 3600})
        world.run(world.lanyard, "logout", "--all")
        self.sign_in()

    def token_row(self):
        self.ratio("stored token, answer cache off", self.token, self.uncached, 1.20)

    def sealed(self):
        """A stored token and a password on the sealed keyring, with few items and with many; the token against git's helper."""
        world = self.world
        config = world.folder / "config/lanyard/config.toml"
        before = config.read_text()
        world.run(world.lanyard, "keyring", "create", "session", environment=world.environment)
        self.sign_in()
        self.ratio("sealed keyring: stored token, answer cache off", self.token, self.uncached, 0.60)

        def store(host):
            world.run(world.lanyard, "store", input=f"protocol=https\nhost={host}\nusername=u\npassword=p\n",
                      environment=world.environment)
        store("h.example")
        # A password that no user name is asked for is among all those of the host.
        password = self.file("nameless", "protocol=https\nhost=h.example\n")
        asked = [(world.lanyard, self.token, self.uncached), (world.lanyard, password, self.uncached)]
        few = self.pairs(*asked)
        for number in range(10_000):
            store(f"h{number}.example")
        for name, first, then in zip(["stored token", "password without a user name"], few, self.pairs(*asked)):
            self.row(f"sealed keyring: {name}, with 10,000 more items", f"{then / first:.2f}", "≤ 1.5",
                     then <= 1.5 * first, f"{then:.1f} ms", f"{first:.1f} ms")
        world.run(world.lanyard, "keyring", "delete", "--yes", environment=world.environment)
        config.write_text(before)

    def password_row(self):
        self.ratio("stored password", self.password, self.world.environment, 1.10)

    def miss(self):
        self.ratio("nothing stored", self.missing, self.world.environment, 1.4, self.missing)

    def store(self):
        again = self.file("again", PASSWORD + "password=correct horse\n")
        self.ratio("store of what is stored", again, self.world.environment, 1.10, again, "store")

    def memory(self):
        world = self.world
        ours = peak(world.lanyard, self.token, world.environment)
        theirs = peak(world.peer, self.password, world.environment)
        self.row("peak memory, cached token", f"{ours / theirs:.2f}", "≤ 2.1", ours / theirs <= 2.1,
                 f"{ours / 1000:.1f} MB", f"{theirs / 1000:.1f} MB")

    def tools(self):
        world = self.world
        url = self.token.read_text().strip().removeprefix("url=")
        helper = f"{world.folder}/usr/bin/docker-credential-lanyard"
        git = (world.lanyard, self.token, world.environment)
        docker = (helper, self.file("docker", url), world.environment)
        info = {"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1", "spec": {
            "interactive": False, "cluster": {"server": url, "certificate-authority-data": CERTIFICATE, "config": None}}}
        kubectl = (world.lanyard, os.devnull, world.environment | {"KUBERNETES_EXEC_INFO": json.dumps(info)}, "kubectl")
        self.compare("cached token for docker, against git's", docker, git, 1.15)
        self.compare("cached token for kubectl, against git's", kubectl, git, 1.15)
        self.compare_registry_of_aws(helper, git)
        if theirs := world.fetch_docker_helper():
            self.compare_passwords(helper, theirs, docker)
        else:
            print("bench: docker-credential-secretservice can't be fetched: not compared", file=sys.stderr)
        az = (shutil.which(self.az) or "", os.devnull, dict(os.environ), "account", "get-access-token")
        if az[0] and subprocess.run([az[0], *az[3:]], stdin=subprocess.DEVNULL, capture_output=True).returncode == 0:
            self.compare("cached token, against az's", git, az)
        else:
            print("bench: no az that somebody is signed in at: not compared", file=sys.stderr)

    def compare_registry_of_aws(self, helper, git):
        """Compares docker's answer for a registry whose password is got with a role's keys."""
        world = self.world
        config = world.folder / "config/lanyard/config.toml"
        before = config.read_text()
        registry = "https://123456789012.dkr.ecr.eu-central-1.amazonaws.com"
        rule = 'authority = "https://contoso.awsapps.com/start"\nexchange-parameters = { role = "123456789012/Developer" }'
        # The sandbox's configuration has the place of its Amazon.
        config.write_text(f'{before}\n[[rule]]\nurl = "{registry}"\n{rule}\n')
        world.run(world.lanyard, "login", registry, environment=world.with_browser)
        request = (helper, self.file("registry", registry), world.environment)
        world.run(helper, "get", input=registry)
        self.compare("remembered password of Amazon's registry for docker, against git's", request, git, 1.15)
        config.write_text(before)

    def compare_passwords(self, helper, theirs, cached):
        """Compares docker's two helpers, which one password is stored with."""
        world = self.world
        server = "registry.example:5000"
        login = self.file("login", json.dumps({"ServerURL": server, "Username": "somebody", "Secret": "correct horse"}))
        for program in (helper, theirs):
            milliseconds(program, login, world.environment, "store")
        request = self.file("server", server)
        peer = (theirs, request, world.environment)
        self.compare("cached token for docker, against docker-credential-secretservice's password", cached, peer)
        self.compare("password for docker, against docker-credential-secretservice's",
                     (helper, request, world.environment), peer)

    def calls(self):
        world = self.world
        theirs = calls(world, world.peer, self.password, world.environment)
        for figure, request, environment, limit in [
            ("cached token", self.token, world.environment, 0),
            ("stored token, answer cache off", self.token, self.uncached, 8),
            ("stored password", self.password, world.environment, 8),
        ]:
            ours = calls(world, world.lanyard, request, environment)
            self.row(f"D-Bus calls, {figure}", ours, f"≤ {limit}", ours <= limit, ours, theirs)

    def stampede(self):
        world = self.world
        # Less than the five minutes that lanyard wants a token to live on.
        world.control("POST", "settings", {"access_token_lifetime": 200})
        world.run(world.lanyard, "logout", "--all")
        self.sign_in()
        world.control("POST", "settings", {"access_token_lifetime": 3600})
        requests, right = self.at_once(world.environment)
        count = sum(entry["path"].endswith("/token") for entry in requests)
        self.row(f"{MANY} parallel gets, token expired: token requests", count, "1, all right", count == 1 and right)

        world.run(world.lanyard, "logout", "--all")
        requests, right = self.at_once(world.with_browser)
        count = sum(entry["method"] == "GET" and entry["path"].endswith("/authorize") for entry in requests)
        self.row(f"{MANY} parallel gets, nobody signed in: sign-in pages", count, "1, all right", count == 1 and right)

    def at_once(self, environment):
        """Runs many gets at once; gives the authority's requests and whether all got the same token."""
        world = self.world
        world.control("DELETE", "log")
        processes = [
            subprocess.Popen([world.lanyard, "get"], stdin=open(self.token), env=environment, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) for _ in range(MANY)]
        answers = [process.communicate()[0] for process in processes]
        tokens = {line for answer in answers for line in answer.splitlines() if line.startswith("password=")}
        right = len(tokens) == 1 and all("password=" in answer for answer in answers)
        return world.requests(), right

    def growth(self):
        world = self.world
        first = None
        for items in (1, 100, 1_000, 10_000):
            world.restart_keyring(items)
            now = self.pairs(
                (world.lanyard, self.token, world.environment), (world.lanyard, self.token, self.uncached),
                (world.lanyard, self.password, world.environment), (world.peer, self.password, world.environment),
                ("/bin/true", self.password, world.environment))
            first = first or now
            grown = [one - before for one, before in zip(now, first)]
            # The first was measured earlier: a program that does nothing tells whether the machine is slower than then.
            grown[0] = now[0] - first[0] * now[4] / first[4]
            # Half a millisecond is what such medians differ by for no reason.
            fine = grown[0] <= 0.5
            self.row(f"{items} more items: cached token", f"{grown[0]:+.1f} ms", "flat", fine, f"{now[0]:.1f} ms")
            for name, index in (("stored token", 1), ("stored password", 2)):
                fine = grown[index] <= grown[3] + 0.5
                self.row(f"{items} more items: {name}", f"{grown[index]:+.1f} ms", f"≤ {grown[3]:+.1f} ms", fine,
                         f"{now[index]:.1f} ms", f"{now[3]:.1f} ms")

    def size(self):
        for place, limit in (("usr/bin/lanyard", 22), ("usr/lib/lanyard/lanyard-authority", 20)):
            megabytes = (self.world.folder / place).stat().st_size / 1e6
            self.row(f"size of {pathlib.Path(place).name}", f"{megabytes:.1f} MB", f"≤ {limit} MB", megabytes <= limit)


def milliseconds(program, request, environment, *arguments):
    source = os.open(request, os.O_RDONLY)
    sink = os.open(os.devnull, os.O_WRONLY)
    files = [(os.POSIX_SPAWN_DUP2, source, 0), (os.POSIX_SPAWN_DUP2, sink, 1)]
    start = time.perf_counter_ns()
    process = os.posix_spawn(program, [program, *(arguments or ["get"])], environment, file_actions=files)
    _, status = os.waitpid(process, 0)
    elapsed = time.perf_counter_ns() - start
    os.close(source)
    os.close(sink)
    if status != 0:
        raise SystemExit(f"bench: error: {' '.join([program, *arguments])} failed")
    return elapsed / 1e6


def peak(program, request, environment):
    """The median of the most memory that several runs had resident, in kilobytes."""
    def once():
        with open(request) as source:
            ended = subprocess.run(["/usr/bin/time", "--format=%M", program, "get"], stdin=source, env=environment,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        return int(ended.stderr.split()[-1]) * 1.024
    return statistics.median(once() for _ in range(9))


def calls(world, program, request, environment):
    """How many calls the bus sees of one run."""
    monitor = subprocess.Popen(["dbus-monitor", "--session", "--profile"], env=world.environment,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    time.sleep(0.5)
    milliseconds(program, request, environment)
    time.sleep(0.3)
    monitor.terminate()
    return len(re.findall(r"^mc\t(?!.*\tBecomeMonitor$)", monitor.communicate()[0], flags=re.MULTILINE))


def main():
    parser = argparse.ArgumentParser(prog="script/bench", description=__doc__)
    parser.add_argument("binaries", help=argparse.SUPPRESS)
    parser.add_argument("--runs", type=int, default=40, help="runs of each program in a row")
    parser.add_argument("--az", default="az", metavar="PATH", help="the Azure CLI to compare with")
    parser.add_argument("--msal", default="", metavar="PATH", help="a Python that has MSAL")
    parser.add_argument("--rows", nargs="+", choices=ROWS, default=ROWS, metavar="NAME", help="only these rows")
    options = parser.parse_args()
    with World(options.binaries) as world:
        bench = Bench(world, options.runs, options.az, options.msal)
        print("| figure | lanyard | the other | measured | must be | |\n|---|---|---|---|---|---|")
        for name in ROWS:
            if name in options.rows:
                {"token": bench.token_row, "password": bench.password_row}.get(name, getattr(bench, name, None))()
    return 1 if bench.failed else 0


if __name__ == "__main__":
    sys.exit(main())
