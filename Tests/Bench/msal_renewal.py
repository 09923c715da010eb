"""Gets a token by a refresh token with MSAL, as a program does that has nothing else to do.

Its cache is in the keyring, by msal-extensions, as Azure Identity's is.

usage: msal_renewal.py AUTHORITY CLIENT-ID SCOPE CA-FILE FOLDER
       msal_renewal.py --fill FOLDER <CACHE
"""

import pathlib
import sys

import msal
from msal_extensions import LibsecretPersistence, PersistedTokenCache

persistence = LibsecretPersistence(
    str(pathlib.Path(sys.argv[-1], "msal.cache")), schema_name="lanyard.bench", attributes={"cache": "msal"})
if sys.argv[1] == "--fill":
    persistence.save(sys.stdin.read())
    sys.exit()
authority, client, scope, certificate, _ = sys.argv[1:]
application = msal.PublicClientApplication(
    client, authority=authority, instance_discovery=False, token_cache=PersistedTokenCache(persistence),
    verify=certificate)
token = application.acquire_token_silent([scope], application.get_accounts()[0])
sys.exit(0 if token and "access_token" in token else 1)
