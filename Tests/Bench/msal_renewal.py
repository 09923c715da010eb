"""Gets a token by a refresh token with MSAL, as a program does that has nothing else to do.

usage: msal_renewal.py AUTHORITY CLIENT-ID SCOPE CA-FILE CACHE
"""

import sys

import msal

authority, client, scope, certificate, cache = sys.argv[1:]
store = msal.SerializableTokenCache()
with open(cache) as file:
    store.deserialize(file.read())
application = msal.PublicClientApplication(
    client, authority=authority, instance_discovery=False, token_cache=store, verify=certificate)
token = application.acquire_token_silent([scope], application.get_accounts()[0])
sys.exit(0 if token and "access_token" in token else 1)
