import sys

sys.path.insert(0, f"{sys.path[0]}/support")
from story import APP_SCOPE, CLIENT_ID, CLIENT_SECRET, ISSUER, REDIRECT_URI, SCOPE, live

# region guide
import requests
from oauthlib.oauth2 import BackendApplicationClient, WebApplicationClient
from requests.auth import HTTPBasicAuth
from requests_oauthlib import OAuth2Session

server = requests.get(f"{ISSUER}/.well-known/oauth-authorization-server").json()
web = WebApplicationClient(CLIENT_ID)
user = OAuth2Session(client=web, scope=SCOPE.split(), redirect_uri=REDIRECT_URI)

# Keep the verifier and the state in the session of the browser that is sent to the URL. From version 2.0 on,
# OAuth2Session(CLIENT_ID, pkce="S256", ...) makes, sends and keeps all of this.
code_verifier = web.create_code_verifier(48)
code_challenge = web.create_code_challenge(code_verifier, "S256")
authorization_url, state = user.authorization_url(
    server["authorization_endpoint"], code_challenge=code_challenge, code_challenge_method="S256"
)


def exchange(url):
    """url is what the browser came back to."""
    return user.fetch_token(
        server["token_endpoint"],
        authorization_response=url,
        client_secret=CLIENT_SECRET,
        code_verifier=code_verifier,
    )
# endregion


def refresh(refresh_token):
    client = {"client_id": CLIENT_ID, "client_secret": CLIENT_SECRET}
    return user.refresh_token(server["token_endpoint"], refresh_token=refresh_token, **client)


# The library knows neither introspection nor revocation: each is one request.
def introspect(token):
    client = HTTPBasicAuth(CLIENT_ID, CLIENT_SECRET)
    return requests.post(server["introspection_endpoint"], data={"token": token}, auth=client).json()


def revoke(token):
    client = HTTPBasicAuth(CLIENT_ID, CLIENT_SECRET)
    requests.post(server["revocation_endpoint"], data={"token": token}, auth=client).raise_for_status()


def own_token(secret=CLIENT_SECRET):
    app = OAuth2Session(client=BackendApplicationClient(CLIENT_ID, scope=APP_SCOPE.split()))
    return app.fetch_token(server["token_endpoint"], client_secret=secret)


def call(url, token):
    return OAuth2Session(CLIENT_ID, token=token).get(url, headers={"X-Service-Api-Version": "2026-08"})


live(server, authorization_url, exchange, refresh, introspect, revoke, own_token, call)
