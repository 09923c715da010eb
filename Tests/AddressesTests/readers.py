"""Says to which host programs would connect for a URL: a list of URLs on stdin, a list of lists of HOST or HOST:PORT on stdout.

curl is sent through a proxy on the loopback, which notes what it is asked for and refuses it. A reader that takes a text for no URL
says null.
"""
import ipaddress, json, socketserver, subprocess, sys, threading, urllib.parse, urllib.request

asked = []


class Proxy(socketserver.StreamRequestHandler):
    def handle(self):
        asked.append(self.rfile.readline().decode("latin-1").split(" ")[1])
        self.wfile.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


def canonical(host, port, scheme):
    host = host.lower().strip("[]").split("%")[0]
    try:
        host = str(ipaddress.ip_address(host))
    except ValueError:
        pass
    if ":" in host:
        host = f"[{host}]"
    return host if port in (None, "", {"https": 443, "http": 80}.get(scheme)) else f"{host}:{port}"


def split(place, scheme):
    host, colon, port = place.rpartition(":")
    if not colon or port.endswith("]"):
        host, port = place, ""
    return canonical(host, int(port) if port else None, scheme)


def by_curl(url, proxy):
    asked.clear()
    subprocess.run(["curl", "-q", "-s", "--noproxy", "", "--proxy", proxy, "--", url], capture_output=True)
    hosts = set()
    for target in asked:
        if "://" in target:
            parts = urllib.parse.urlsplit(target)
            hosts.add(canonical(parts.hostname, parts.port, parts.scheme))
        else:
            hosts.add(split(target, "https"))
    return " and ".join(sorted(hosts)) or None


def by_urlsplit(url):
    parts = urllib.parse.urlsplit(url)
    return canonical(parts.hostname, parts.port, parts.scheme) if parts.hostname else None


def by_request(url):
    request = urllib.request.Request(url)
    return split(request.host.rpartition("@")[2], request.type) if request.host else None


def attempt(reader, *arguments):
    try:
        return reader(*arguments)
    except ValueError:
        return None


with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Proxy) as server:
    threading.Thread(target=server.serve_forever, daemon=True).start()
    proxy = f"http://127.0.0.1:{server.server_address[1]}"
    readings = [
        [attempt(by_curl, url, proxy), attempt(by_urlsplit, url), attempt(by_request, url)]
        for url in json.load(sys.stdin)
    ]
    json.dump(readings, sys.stdout)
    server.shutdown()
