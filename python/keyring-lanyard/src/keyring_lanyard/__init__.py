"""A keyring backend that asks lanyard for the passwords of URLs."""

import json
import shutil
import subprocess

from keyring.backend import KeyringBackend
from keyring.credentials import SimpleCredential
from keyring.errors import KeyringError, PasswordDeleteError, PasswordSetError


class LanyardKeyring(KeyringBackend):
    """Runs lanyard as `keyring`, whose command line it has under that name.

    Services that are no URLs are none of lanyard's: other backends get them.
    """

    # More than the backends that keep passwords (5), so that those are asked about a URL last; without lanyard it is never used.
    priority = 9 if shutil.which("lanyard") else 0

    def get_credential(self, service, username):
        if not _is_url(service):
            return None
        ended = _run(["--mode=creds", "--output=json", "get", "--", service, username or ""])
        if ended.returncode:
            return None
        answer = json.loads(ended.stdout)
        return SimpleCredential(answer["username"], answer["password"])

    def get_password(self, service, username):
        credential = self.get_credential(service, username)
        return credential.password if credential else None

    def set_password(self, service, username, password):
        # The chain of backends goes on after this error only.
        if not _is_url(service):
            raise NotImplementedError
        if _run(["set", "--", service, username], input=password + "\n").returncode:
            raise PasswordSetError("lanyard did not store the password")

    def delete_password(self, service, username):
        if not _is_url(service):
            raise NotImplementedError
        if _run(["del", "--", service, username]).returncode:
            raise PasswordDeleteError("lanyard did not delete the password")


def _is_url(service):
    return service.lower().startswith(("https://", "http://"))


def _run(arguments, input=None):
    """Runs lanyard; the password goes through a pipe, and what there is to say to a user goes to stderr."""
    lanyard = shutil.which("lanyard")
    if not lanyard:
        raise KeyringError("lanyard is not on PATH")
    # Without input, a terminal's must not be read.
    given = {"stdin": subprocess.DEVNULL} if input is None else {"input": input}
    return subprocess.run(
        ["keyring", *arguments], executable=lanyard, stdout=subprocess.PIPE, encoding="utf-8", check=False, **given
    )
